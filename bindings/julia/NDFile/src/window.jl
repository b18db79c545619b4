# Single elements, which the generic functions of Base ask for one by one.
#
# An array keeps the box that the last of them lay in. While elements near each other are asked for the next box is
# larger, up to a limit, and reaches first along the axes that the caller moves on; when a box was hardly used, the next one is
# smaller. So a function that goes through an array in any regular order takes a few reads, and one that picks
# elements here and there pays little for what lies around them.

"The elements of a box of an array."
mutable struct Window{T,N}
    block::Array{T,N}
    offset::NTuple{N,Int} # of the index of an element in the array over that in block
    first::NTuple{N,Int}  # the element that it was read for
    epoch::Int            # of the array when it was read
    hits::Int             # elements found in it, about; tasks may count at once
end

# What an array remembers between calls. Tasks share it: a window is replaced as a whole.
mutable struct Memory{T,N}
    window::Union{Nothing,Window{T,N}}
    epoch::Threads.Atomic{Int} # changes when elements do
end

Memory{T,N}() where {T,N} = Memory{T,N}(nothing, Threads.Atomic{Int}(0))

const WINDOW_BYTES = 16 << 20
const WINDOW_TEXTS = 1 << 16 # elements of variable length
const CALL_WORTH = 1000      # elements that are read in the time that a call takes

# The most elements that a piece of an array in memory has.
budget(a) = a.type.kind == 'v' ? WINDOW_TEXTS : max(1, WINDOW_BYTES ÷ max(1, a.type.size))

# After elements or the size have changed.
function forget!(m::Memory)
    Threads.atomic_add!(m.epoch, 1)
    m.window = nothing
    return nothing
end

function near(a, i::NTuple{N,Int}) where {N}
    m = getfield(a, :memory)
    w = m.window
    if w !== nothing && w.epoch == m.epoch[]
        j = map(-, i, w.offset)
        if checkbounds(Bool, w.block, j...)
            w.hits += 1
            return @inbounds w.block[j...]
        end
    end
    return read_near(a, m, w, i)
end

@noinline function read_near(a, m::Memory{T,N}, w, i::NTuple{N,Int}) where {T,N}
    epoch = m.epoch[]
    ranges = around(a, i, w)
    block = read_box(T, a, ranges)::Array{T,N}
    offset = map(r -> first(r) - 1, ranges)
    new = Window{T,N}(block, offset, i, epoch, 0)
    Threads.atomic_fence() # others see it complete
    m.window = new
    return block[map(-, i, offset)...]
end

# The box to read for an element that is not in window w.
function around(a, i::NTuple{N,Int}, w) where {N}
    all, room = size(a), 1
    order = Base.OneTo(N)
    if w !== nothing
        n = length(w.block)
        room = (w.hits + 1) * CALL_WORTH >= n ? min(8n, budget(a)) : max(n ÷ 8, 1)
        order = sortperm(collect(map(==, i, w.first))) # stable: axes that it moved on come first, in their order
    end
    chunk = haschunks(a) ? a.chunks::NTuple{N,Int} : map(_ -> 1, all)
    counts = ones(Int, N)
    for d in order
        k = min(room, all[d])
        k >= chunk[d] && (k -= k % chunk[d]) # whole chunks
        all[d] - k < chunk[d] && all[d] <= room && (k = all[d])
        counts[d] = k
        room ÷= k
        room <= 1 && break
    end
    return ntuple(N) do d
        from = (i[d] - 1) ÷ counts[d] * counts[d] + 1
        from:1:min(from + counts[d] - 1, all[d])
    end
end
