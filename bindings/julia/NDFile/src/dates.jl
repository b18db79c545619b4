# Dates and times: in files counts of a unit since 1970, in Julia Date and DateTime.

const TimePoint = Union{Date,DateTime}

# Milliseconds of units of fixed length, as a fraction.
const UNIT_MS = Dict{String,Tuple{Int64,Int64}}("W" => (604_800_000, 1), "D" => (86_400_000, 1), "h" => (3_600_000, 1),
    "m" => (60_000, 1), "s" => (1000, 1), "ms" => (1, 1), "us" => (1, 10^3), "ns" => (1, 10^6), "ps" => (1, 10^9),
    "fs" => (1, 10^12), "as" => (1, 10^15))
const UNIT_MONTHS = Dict{String,Int64}("Y" => 12, "M" => 1)
const NAT = typemin(Int64)

bad_time(what) = throw(NDFileError(NDF_ERR_VALUE, what))

# A unit such as "25s" as its number and its name.
function parse_unit(unit::AbstractString)
    m = match(r"^([0-9]*)([A-Za-z]+)$"a, unit)
    known = m !== nothing && (haskey(UNIT_MS, m[2]) || haskey(UNIT_MONTHS, m[2]))
    n = known ? (isempty(m[1]) ? 1 : tryparse(Int64, m[1])) : nothing
    n === nothing || n < 1 && (n = nothing)
    n === nothing && throw(NDFileError(NDF_ERR_ARGUMENT, "expected a unit of time such as \"D\" or \"25s\", found $(repr(unit))"))
    return n, String(m[2])
end

"""
    NDFile.dates(a::NDArray) -> array of Date or DateTime
    NDFile.dates(x, unit)

The dates that an array of dtype `M8` holds, or that counts of a unit since 1970 mean, as [`NDFile.timeunit`](@ref) gives it:
`Date` for years, months, weeks and days, `DateTime` for all else. `x` is an array of integers or one of them. What is missing or
NaT in the file is `missing`. A time between two milliseconds, or outside the range of `DateTime`, is an error: nothing is
rounded.

An array of `Date` or `DateTime` is saved with dtype `M8[D]` or `M8[ms]`, in formats that have these; in an array of another `M8`
its unit is used, and must hold the dates exactly.

# Example
```julia
using Dates
NDFile.save("days.bcolz", (day=[Date(2024, 2, 29), Date(1969, 12, 31)], n=[1, 2]))
NDFile.open("days.bcolz") do f
    @assert f["day"][:] == [19782, -1] && NDFile.timeunit(f["day"]) == "D"
    @assert NDFile.dates(f["day"]) == [Date(2024, 2, 29), Date(1969, 12, 31)]
    @assert NDFile.dates(f["day"][2], "D") == Date(1969, 12, 31)
    @assert NDFile.findrows(f, "day" => >(Date(2000))) == [1]
end
```
"""
function dates(a::NDArray)
    a.type.kind == 'M' || throw(NDFileError(NDF_ERR_DTYPE, "$(place(a)): expected dates, found dtype $(a.dtype)"))
    return dates(read(a), timeunit(a))
end

dates(x::Union{Integer,Missing}, unit::AbstractString) = dates(fill(x), unit)[]

function dates(x::AbstractArray{<:Union{Missing,Integer}}, unit::AbstractString)
    n, name = parse_unit(unit)
    T = haskey(UNIT_MONTHS, name) || name in ("W", "D") ? Date : DateTime
    optional = Missing <: eltype(x) || any(isequal(NAT), x)
    return dates(optional ? Union{Missing,T} : T, x, n, name)
end

function dates(::Type{T}, x, n, name) where {T}
    out = Array{T}(undef, size(x))
    months = get(UNIT_MONTHS, name, 0)
    ms, parts = get(UNIT_MS, name, (0, 1))
    for (k, i) in zip(eachindex(out), x)
        out[k] = ismissing(i) || i == NAT ? missing : months != 0 ? month(i, n * months) : moment(nonmissingtype(T), i, n * ms, parts)
    end
    return out
end

# DateTime counts milliseconds in 64 bits from year 0 on, but its calendar is that of some 292 million years.
const LAST_MS = Dates.value(DateTime(146_138_512)) - Dates.UNIXEPOCH

function moment(::Type{T}, i, ms, parts) where {T}
    total, rest = divrem(widemul(Int64(i), ms), parts)
    rest == 0 || bad_time("$i: a time between two milliseconds, which DateTime cannot hold")
    abs(total) <= LAST_MS || bad_time("$i: a time outside the range of DateTime")
    return T(DateTime(Dates.UTM(Int64(total) + Dates.UNIXEPOCH)))
end

function month(i, months)
    total = widemul(Int64(i), months)
    abs(total) <= 12 * 100_000_000 || bad_time("$i: a date outside the range of Date")
    years, rest = fldmod(Int64(total), 12)
    return Date(1970 + years, 1 + rest)
end

# Dates as counts of the unit of a dtype; anything else as it is.
stored_times(d::DType, x::AbstractArray) = nonmissingtype(eltype(x)) <: TimePoint && d.kind == 'M' ? counts(d, x) : x

function counts(d::DType, x::AbstractArray)
    n, name = parse_unit(unit_of(d.name))
    nonmissingtype(eltype(x)) === Union{} && return x
    out = Array{Missing <: eltype(x) ? Union{Missing,Int64} : Int64}(undef, size(x))
    for (k, t) in zip(eachindex(out), x)
        out[k] = ismissing(t) ? missing : count_of(t, n, name)
    end
    return out
end

function count_of(t::TimePoint, n, name)
    if haskey(UNIT_MONTHS, name)
        rest = t == DateTime(year(t), Dates.month(t)) ? 0 : 1
        total, per = Int128(12 * (year(t) - 1970) + Dates.month(t) - 1), n * UNIT_MONTHS[name]
    else
        ms, parts = UNIT_MS[name]
        total, per, rest = widemul(Dates.value(DateTime(t)) - Dates.UNIXEPOCH, parts), widemul(n, ms), 0
    end
    rest == 0 && total % per == 0 || bad_time("$t: no whole count of the unit $(n == 1 ? "" : n)$name")
    typemin(Int64) < total ÷ per <= typemax(Int64) || bad_time("$t: outside what the unit $(n == 1 ? "" : n)$name can count")
    return Int64(total ÷ per)
end

dtype_name(::Type{Date}) = "$(ORDER)M8[D]"
dtype_name(::Type{DateTime}) = "$(ORDER)M8[ms]"
natural(::Type{T}, ::Nothing) where {T<:TimePoint} = DType(dtype_name(T))
