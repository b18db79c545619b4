# One-element ds files from Julia: nanoseconds for each call of NDFile.save, NDFile.read and NDFile.open, and what a call of the
# library costs from the main task and from another one.
#
#   NDFILE_LIB=build/lib/libndfile.so julia --project=bindings/julia/NDFile benchmarks/julia/tiny.jl

using NDFile, Printf

# The quickest of several rounds of n calls, in nanoseconds a call.
function nanoseconds(f, n; rounds=7)
    f(1)
    return minimum(1:rounds) do _
        start = time_ns()
        for i in 1:n
            f(i)
        end
        (time_ns() - start) / n
    end
end

report(what, ns) = @printf("%-48s %10.0f ns\n", what, ns)

const N = 2000
const X = [1.5]

mktempdir() do folder
    path(i) = joinpath(folder, "$i.ds")
    for i in 1:N
        NDFile.save(path(i), "x" => X)
    end
    report("NDFile.save(path, \"x\" => [1.5])", nanoseconds(i -> NDFile.save(path(i), "x" => X), N))
    report("NDFile.save(...; commit=:direct)", nanoseconds(i -> NDFile.save(path(i), "x" => X; commit=:direct), N))
    report("NDFile.read(path, \"x\")", nanoseconds(i -> NDFile.read(path(i), "x"), N))
    report("NDFile.read(path)", nanoseconds(i -> NDFile.read(path(i)), N))
    report("NDFile.open(f -> f[\"x\"][1], path)", nanoseconds(i -> NDFile.open(f -> f["x"][1], path(i)), N))
    report("read(path, Vector{UInt8}(undef, 64))", nanoseconds(i -> open(io -> readbytes!(io, Vector{UInt8}(undef, 64)), path(i)), N))
    count(_) = NDFile.handle_count()
    report("ndf_handle_count, main task", nanoseconds(count, 10_000))
    report("ndf_handle_count, @async task", fetch(@async nanoseconds(count, 10_000)))
    report("ndf_handle_count, Threads.@spawn task", fetch(Threads.@spawn nanoseconds(count, 10_000)))
end
