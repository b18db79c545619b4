# Sums, bounds and means, which the library computes block by block.
#
# Results are those of the same function of an Array, with these differences: sums of integers that do not fit are an error,
# those of floats are more precise, and the sign of a zero among the bounds is either. What the library does not do as Julia
# does is left to Julia, which sees the elements as it asks for them.

const BITS = (sum=NDF_REDUCE_SUM, min=NDF_REDUCE_MIN, max=NDF_REDUCE_MAX, mean=NDF_REDUCE_MEAN)

for (name, parts, T) in ((:(Base.sum), (:sum,), Numbers), (:(Base.minimum), (:min,), Ordered), (:(Base.maximum), (:max,), Ordered),
                         (:(Base.extrema), (:min, :max), Ordered), (:(Statistics.mean), (:mean,), Numbers))
    for S in (Bool, T) # Base has a sum of its own for Bool
        @eval function $name(a::NDArray{<:$S}; options...)
            r = reduced($name, identity, a, $parts, options)
            return isempty(options) ? r::Base.promote_op($name, Vector{eltype(a)}) : r
        end
    end
    @eval $name(s::Base.SkipMissing{<:NDArray{<:Union{Missing,Bool,$T}}}; options...) =
        reduced($name, skipmissing, s.x, $parts, options)
end

# The array for a function of Base, which must not come back here.
lazy(a::NDArray) = length(a) <= budget(a) ? read_all(a) : view(a, axes(a)...)

function reduced(@nospecialize(generic), @nospecialize(wrap), @nospecialize(a::NDArray), parts, @nospecialize(options))
    # Other kinds show numbers that are not what the library computes with: times, bfloat16.
    isempty(options) && a.type.kind in "biufc" || return generic(wrap(lazy(a)); options...)
    out = zeroed(ndf_summary)
    GC.@preserve a out begin
        p = address(out)
        call(ndf_array_reduce, number(a), ndims(a), C_NULL, C_NULL, C_NULL, reduce(|, BITS[part] for part in parts), p)
        places = (sum=field(p, Val(:sum)), min=field(p, Val(:min)), max=field(p, Val(:max)), mean=field(p, Val(:mean)))
        results = Tuple(scalar(nonmissingtype(eltype(a)), places[part]) for part in parts)
    end
    return length(results) == 1 ? results[1] : results
end

# A number of the library as Julia has it for elements of type T.
function scalar(::Type{T}, s::Ptr{ndf_scalar}) where {T}
    x = decode(DType(unsafe_string(field(s, Val(:dtype)))), field(s, Val(:bytes)))
    return T <: Union{AbstractFloat,Complex} ? T(x) : x
end
