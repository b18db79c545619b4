# Tasks on all threads read and write while the garbage collectors of Julia and Go run, exceptions are thrown and caught,
# handles are left to finalizers, and finalizers read files, in the middle of anything. Right results, no crash, and no handle
# left at the end.
# Usage: julia --threads=4 stress.jl [seconds]

using NDFile, Random, Test

const SECONDS = isempty(ARGS) ? 10.0 : parse(Float64, ARGS[1])
const X = reshape(collect(1.0:24_000.0), 20, 30, 40)
const TEXTS = [randstring(i % 50) for i in 1:500]
const MASKED = [i % 7 == 0 ? missing : Int32(i) for i in 1:10_000]

fail(i) = error("task $i")

# What a finalizer does.
const FINALIZED, WRONG = Threads.Atomic{Int}(0), Threads.Atomic{Int}(0)
function read_finally(_)
    isfile("shared.ds") || return # at exit
    Threads.atomic_add!(FINALIZED, 1)
    isequal(NDFile.read("shared.ds", "m"), MASKED) || Threads.atomic_add!(WRONG, 1)
end

# One piece of work; every kind comes up. Gives the number of wrong results.
function work(shared, i, rng)
    wrong = 0
    kind = i % 6
    if kind == 0 # a shared file
        r = rand(rng, 1:40)
        wrong += shared["x"][:, 3:2:29, r] != X[:, 3:2:29, r]
        wrong += shared["t"][10:-1:1] != TEXTS[10:-1:1]
        wrong += !isequal(shared["m"][5:5000], MASKED[5:5000])
    elseif kind == 1 # a file of our own, left to the garbage collector
        f = NDFile.open("shared.ds")
        r = rand(rng, 1:24_000)
        wrong += f["x"][r] != r
    elseif kind == 2 # written and read
        path = "own$(Threads.threadid())-$i.ds"
        a = rand(rng, Float32, rand(rng, 1:2000))
        NDFile.save(path, "a" => a, "s" => ["x", "y"]; attrs=(i=i,))
        wrong += NDFile.read(path, "a") != a
        wrong += [x isa NDFileError ? x.code : x for x in NDFile.read_many([path, "none.ds"], "s"; errors=:return)] !=
                 [["x", "y"], NDFile.NDF_ERR_NOT_FOUND]
        finalizer(read_finally, Ref(i))
        wrong += NDFile.read("shared.ds", "t") != TEXTS
        wrong += NDFile.open(f -> f.attrs["i"], path) != i
        rm(path)
    elseif kind == 3 # errors from the library, and of ours through it
        wrong += try
            NDFile.read("none.ds")
            1
        catch e
            !(e isa NDFileError && e.code == NDFile.NDF_ERR_NOT_FOUND)
        end
        wrong += try
            NDFile.open(f -> (f["x"][1]; fail(i)), "shared.ds")
            1
        catch e
            !(e isa ErrorException)
        end
    elseif kind == 4 # created, and left to the garbage collector: never appears
        f = NDFile.open("never$i.ds", "w")
        f["a"] = rand(rng, 100)
    else # closed by another task while it is read
        f = NDFile.open("shared.ds")
        a = f["x"]
        closer = Threads.@spawn close(f)
        wrong += try
            a[:, :, 1] != X[:, :, 1]
        catch e
            !(e isa NDFileError && e.code == NDFile.NDF_ERR_HANDLE)
        end
        wait(closer)
    end
    return wrong
end

function stress(seconds)
    NDFile.save("shared.ds", "x" => X, "t" => TEXTS, "m" => MASKED)
    shared = NDFile.open("shared.ds")
    sum(i -> work(shared, i, MersenneTwister(i)), 0:5) # compiles
    stop = time() + seconds
    done, wrong = Threads.Atomic{Int}(0), Threads.Atomic{Int}(0)
    tasks = map(1:4Threads.nthreads()) do t
        Threads.@spawn begin
            rng = MersenneTwister(t)
            i = t
            while time() < stop
                Threads.atomic_add!(wrong, work(shared, i, rng))
                Threads.atomic_add!(done, 1)
                i += 7
                i % 5 == 0 && yield()
                i % 100 == 0 && GC.gc(false)
            end
        end
    end
    foreach(wait, tasks)
    close(shared)
    return done[], wrong[]
end

mktempdir() do folder
    cd(folder) do
        done, wrong = stress(SECONDS)
        GC.gc()
        GC.gc()
        @test wrong == 0 && WRONG[] == 0 && FINALIZED[] > 0
        @test NDFile.handle_count() == 0
        @test readdir() == ["shared.ds"]
        println("stress: $done pieces of work on $(Threads.nthreads()) threads in $SECONDS s")
    end
end
