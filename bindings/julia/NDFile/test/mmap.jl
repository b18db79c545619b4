# Mapped arrays, bytes after the data, and calls from tasks.

# How often the library had to find out the bounds of a thread's stack: a probe for tests, which the header leaves out.
stack_misses() = ccall(NDFile.Libdl.dlsym(NDFile.Libdl.dlopen(ENV["NDFILE_LIB"]), :ndf_private_stack_misses), Int64, ())

@testset "mmap" begin
    GC.gc()
    start = NDFile.handle_count()
    @noinline function mapped_is(x) # so that no variable holds the array
        rawrite(x, "x.ra")
        f = NDFile.open("x.ra")
        mapped = NDFile.mmap(f.array)
        close(f)
        GC.gc()
        return same(mapped, x)
    end
    for x in (rand(3, 4, 2), Int16[1, 2, 3], [1.0f0+2im, 3im], [(0x01, 0x02, 0x03)], fill(7))
        @test mapped_is(x)
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

# Mapped memory stays as long as anything that was made from it, whatever the collector and other calls do meanwhile.
@testset "mapped memory in use" begin
    here(path) = count(l -> occursin(path, l), readlines("/proc/self/maps"))
    path = joinpath(mktempdir(), "in_use.ra")
    x = reshape(collect(1.0:2000.0), 20, 100)
    rawrite(x, path)
    rawrite(1:3, "other.ra")
    mapped() = NDFile.open(f -> NDFile.mmap(f.array), path)
    wrappers = Any[identity, a -> view(a, 2:5, :), a -> view(a, :, 3), a -> view(view(a, :, 2:9), 3:4, :), a -> reshape(a, :),
        vec, a -> reshape(reshape(a, :), 100, 20), a -> reinterpret(Int64, a), a -> reinterpret(UInt8, view(a, :, 1)), transpose,
        adjoint, a -> PermutedDimsArray(a, (2, 1)), a -> (() -> a), a -> Iterators.partition(a, 7), a -> [view(a, :, 1), vec(a)],
        a -> Base.Generator(identity, a), a -> reshape(view(a, :, 1:2), 40), eachcol, skipmissing, a -> Ref(a)]
    value(w::AbstractArray{<:Number}) = sum(Float64.(w))
    value(w::Function) = sum(w())
    value(w::Base.RefValue) = sum(w[])
    value(w) = sum(sum, w)
    if Sys.islinux()
        for make in wrappers
            want = value(make(x))
            held = make(mapped())
            for _ in 1:3
                GC.gc()
                raread("other.ra")
            end
            @test here(path) == 1
            @test value(held) == want
            held = nothing
        end
        GC.gc(); GC.gc()
        raread("other.ra")
        @test here(path) <= 1 # the last one may lie in a register
    end
    # Many at once, with garbage, from several tasks.
    wrong = Threads.Atomic{Int}(0)
    rounds = haskey(ENV, "NDFILE_TORTURE") ? 10_000 : 300
    wants = [value(make(x)) for make in wrappers]
    @sync for task in 1:4
        Threads.@spawn for i in 1:rounds
            k = mod1(i * task, length(wrappers))
            held = wrappers[k](mapped())
            i % 50 == 0 && GC.gc(false)
            raread("other.ra")
            value(held) == wants[k] || Threads.atomic_add!(wrong, 1)
        end
    end
    @test wrong[] == 0
    GC.gc(); GC.gc()
    raread("other.ra")
    @test here(path) <= 2
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
