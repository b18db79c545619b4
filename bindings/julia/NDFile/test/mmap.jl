# Mapped arrays, bytes after the data, and calls from tasks.

function stack_misses()
    n = Ref{Int64}(0)
    NDFile.call(NDFile.ndf_stack_misses, n)
    return n[]
end

@testset "mmap" begin
    GC.gc()
    start = NDFile.handle_count()
    for x in (rand(3, 4, 2), Int16[1, 2, 3], [1.0f0+2im, 3im], [(0x01, 0x02, 0x03)], fill(7))
        rawrite(x, "x.ra")
        f = NDFile.open("x.ra")
        mapped = NDFile.mmap(f.array)
        close(f)
        GC.gc()
        @test same(mapped, x)
    end
    NDFile.save("x.ds", "x" => [1.5, 2.5], "m" => [1, missing], "t" => ["a"])
    NDFile.open("x.ds") do f
        for name in ("m", "t")
            e = try NDFile.mmap(f[name]) catch e; e end
            @test e isa NDFileError && e.code == NDFile.NDF_ERR_NOT_SUPPORTED
        end
    end
    GC.gc()
    GC.gc()
    @test NDFile.handle_count() == start
end

@testset "trailing" begin
    NDFile.save("x.ra", [1, 2, 3]; trailing=collect(codeunits("a note")))
    NDFile.open("x.ra") do f
        @test String(NDFile.trailing(f)) == "a note"
        @test f.array[:] == [1, 2, 3]
    end
    NDFile.save("x.ra", [1, 2, 3])
    @test NDFile.open(NDFile.trailing, "x.ra") == UInt8[]
    @test_throws NDFileError NDFile.save("x.ds", "x" => [1]; trailing=UInt8[1])
end

# Finding out the bounds of a task's stack costs 250 microseconds; it is done once for a thread.
@testset "tasks" begin
    before = stack_misses()
    @sync for _ in 1:10
        @async for _ in 1:1000
            NDFile.handle_count()
        end
    end
    tasks = [Threads.@spawn foreach(_ -> NDFile.handle_count(), 1:1000) for _ in 1:10]
    foreach(wait, tasks)
    @test stack_misses() - before <= Threads.nthreads()
end
