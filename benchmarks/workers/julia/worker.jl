# The Julia worker of the benchmarks: does what the driver asks for on stdin, as benchmarks/worker.go describes it.
#
#   NDFILE_LIB=build/lib/libndfile.so julia --project=bindings/julia/NDFile benchmarks/workers/julia/worker.jl

using NDFile

include("contenders.jl")

# ==== Pieces of work ==================================================================

# An operation is prepared for a contender, a case, a folder and the paths in it. It gives what is to be timed, a function without
# arguments, and one that checks its result.

function write_work(c, case, folder, paths)
    files = content(c, case, folder)
    return () -> write_all(c, paths, files), _ -> nothing
end

read_work(c, case, folder, paths) = () -> read_all(c, paths), result -> check(case, pick(c, case, result))
read_work(c::Syscalls, case, folder, paths) = read_reused_work(c, case, folder, paths) # which know no other way

function read_reused_work(c, case, folder, paths)
    out = buffer(c, case, paths[1])
    return () -> foreach(path -> read_into!(c, path, out), paths), _ -> check(case, pick(c, case, out))
end

function read_sum_work(c, case, folder, paths)
    return () -> last([add_all(c, case, read_fresh(c, case, path)) for path in paths]), found -> check_sum(case, found)
end

map_sum_work(c, case, folder, paths) = () -> last([map_sum(c, case, path) for path in paths]), found -> check_sum(case, found)

const OPERATIONS = Dict("write" => write_work, "read" => read_work, "read-reused" => read_reused_work, "read-sum" => read_sum_work,
    "map-sum" => map_sum_work)

function check(case, arrays)
    for x in arrays
        eltype(x) == case.type && size(x) == case.size && (first(x), last(x)) == ends(case) ||
            error("read $(summary(x)) from $(first(x)) to $(last(x)), expected $(case.size) from $(join(ends(case), " to "))")
    end
end

check_sum(case, found) = found == total(case) || error("the sum is $found, expected $(total(case))")

# ==== Time ============================================================================

struct Timespec
    seconds::Clong
    nanoseconds::Clong
end

const CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID = 1, 2

function read_clock(clock)
    t = Ref{Timespec}()
    ccall(:clock_gettime, Cint, (Cint, Ptr{Timespec}), clock, t)
    return 1_000_000_000 * Int64(t[].seconds) + t[].nanoseconds
end

# The wall and the CPU time of a call in nanoseconds, and its result. The garbage collector does not come in between.
function timed(run)
    GC.gc()
    GC.enable(false)
    try
        wall, cpu = read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID)
        result = run()
        cpu, wall = read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu, read_clock(CLOCK_MONOTONIC) - wall
        return wall, cpu, result
    finally
        GC.enable(true)
    end
end

# While the collector is off, every result takes memory that nobody has touched yet, at a page fault for every few KiB; in a
# program that has run for a while it does not. So the heap is given beforehand what the results of small files will take.
function touch_heap(case, count)
    array = sizeof(case.type) * prod(case.size) + OBJECTS
    length(case.names) * count * array <= HEAP || return
    foreach(x -> fill!(x, 77), [Vector{UInt8}(undef, n) for n in (array, OBJECTS) for _ in 1:count*length(case.names)])
end

const OBJECTS = 1 << 10 # bytes of all that is made for an array beside it
const HEAP = 1 << 28
const M_TRIM_THRESHOLD = -1
ccall(:mallopt, Cint, (Cint, Cint), M_TRIM_THRESHOLD, typemax(Cint)) # what is freed stays in the heap

# ==== Requests ========================================================================

# What has run once, so that it is compiled.
const WARM = Set{Any}()

function warm_up(c, operation, case, folder, count)
    (c, operation, case.type, case.size) in WARM && return
    mktempdir(dirname(folder)) do beside
        paths = all_paths(c, beside, min(count, 3))
        for work in unique([write_work, OPERATIONS[operation]])
            run, check_result = work(c, case, beside, paths)
            check_result(timed(run)[3])
        end
    end
    push!(WARM, (c, operation, case.type, case.size))
end

all_paths(c, folder, count) = [joinpath(folder, lpad(i, 6, '0') * extension(c)) for i in 0:count-1]

# Does CONTENDER OPERATION CASE FOLDER COUNT.
function answer(request)
    name, operation, text, folder, count = split(request, ' ')
    haskey(CONTENDERS, name) || throw(Skip("no contender $name here"))
    haskey(OPERATIONS, operation) || throw(Skip("no operation $operation here"))
    c, case, n = CONTENDERS[name], Case(text), parse(Int, count)
    warm_up(c, operation, case, folder, n)
    run, check_result = OPERATIONS[operation](c, case, folder, all_paths(c, folder, n))
    touch_heap(case, n)
    wall, cpu, result = timed(run)
    check_result(result)
    return "ok $wall $cpu"
end

function reply(request)
    try
        return answer(request)
    catch e
        skip = e isa Skip || e isa NDFileError && e.code == NDFile.NDF_ERR_NOT_SUPPORTED
        return join(split((skip ? "skip " : "error ") * sprint(showerror, e)), ' ')
    end
end

println("ready ndfile=", NDFile.version(), " julia=", VERSION)
flush(stdout)
for request in eachline(stdin)
    println(reply(request))
    flush(stdout)
end
