# JSON as Python writes and reads it: order kept, integers of any size exact, bare NaN and Infinity, lone surrogates
# (as three bytes each in a String, and escaped again when written).

# Reading. Every function takes the text and a position, and gives a value and the position behind it.

json_error(i, what) = throw(NDFileError(NDF_ERR_CORRUPT, "JSON, byte $i: $what"))

"The value of a JSON text. Objects become [`OrderedDict`](@ref)s, integers `Int` or `BigInt`, `null` `nothing`."
function parse_json(s::String)
    v, i = json_value(s, json_space(s, 1), 0)
    json_space(s, i) > ncodeunits(s) || json_error(i, "expected the end")
    return v
end

byte(s::String, i::Int) = i <= ncodeunits(s) ? codeunit(s, i) : 0x00

function json_space(s::String, i::Int)
    while byte(s, i) in (0x20, 0x09, 0x0a, 0x0d)
        i += 1
    end
    return i
end

const WORDS = ("true" => true, "false" => false, "null" => nothing, "NaN" => NaN, "Infinity" => Inf, "-Infinity" => -Inf)

# Deeper nesting than the library accepts does not occur.
const MAX_DEPTH = 1000

function json_value(s::String, i::Int, depth::Int)
    depth > MAX_DEPTH && json_error(i, "nested deeper than $MAX_DEPTH")
    c = byte(s, i)
    c == UInt8('{') && return json_object(s, i + 1, depth)
    c == UInt8('[') && return json_list(s, i + 1, depth)
    c == UInt8('"') && return json_string(s, i + 1)
    for (word, v) in WORDS
        startswith(SubString(s, i), word) && return v, i + ncodeunits(word)
    end
    return json_number(s, i)
end

function json_list(s::String, i::Int, depth::Int)
    list = Any[]
    i = json_space(s, i)
    byte(s, i) == UInt8(']') && return list, i + 1
    while true
        v, i = json_value(s, json_space(s, i), depth + 1)
        push!(list, v)
        i = json_space(s, i)
        byte(s, i) == UInt8(']') && return list, i + 1
        byte(s, i) == UInt8(',') || json_error(i, "expected , or ]")
        i += 1
    end
end

function json_object(s::String, i::Int, depth::Int)
    object = OrderedDict{Any}()
    i = json_space(s, i)
    byte(s, i) == UInt8('}') && return object, i + 1
    while true
        i = json_space(s, i)
        byte(s, i) == UInt8('"') || json_error(i, "expected a string")
        key, i = json_string(s, i + 1)
        i = json_space(s, i)
        byte(s, i) == UInt8(':') || json_error(i, "expected :")
        object[key], i = json_value(s, json_space(s, i + 1), depth + 1)
        i = json_space(s, i)
        byte(s, i) == UInt8('}') && return object, i + 1
        byte(s, i) == UInt8(',') || json_error(i, "expected , or }")
        i += 1
    end
end

function json_number(s::String, i::Int)
    m = match(r"\G-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?"a, s, i)
    m === nothing && json_error(i, "expected a value")
    if m[2] === nothing && m[3] === nothing
        v = tryparse(Int, m.match)
        v === nothing && (v = parse(BigInt, m.match))
    else
        v = tryparse(Float64, m.match)
        v === nothing && (v = Float64(parse(BigFloat, m.match))) # out of range: infinite or 0
    end
    return v, i + ncodeunits(m.match)
end

const ESCAPES = Dict{UInt8,Char}(zip(codeunits("\"\\/bfnrt"), "\"\\/\b\f\n\r\t"))

function json_string(s::String, i::Int)
    out = IOBuffer()
    while true
        i > ncodeunits(s) && json_error(i, "a string without end")
        c = codeunit(s, i)
        i += 1
        if c == UInt8('"')
            return String(take!(out)), i
        elseif c != UInt8('\\')
            write(out, c)
        elseif byte(s, i) == UInt8('u')
            u = json_unit(s, i + 1)
            i += 5
            if u & 0xfc00 == 0xd800 && byte(s, i) == UInt8('\\') && byte(s, i + 1) == UInt8('u')
                low = json_unit(s, i + 2)
                if low & 0xfc00 == 0xdc00
                    u = 0x10000 + (u & 0x3ff) << 10 + low & 0x3ff
                    i += 6
                end
            end
            print(out, Char(u))
        else
            haskey(ESCAPES, byte(s, i)) || json_error(i, "an unknown escape")
            print(out, ESCAPES[codeunit(s, i)])
            i += 1
        end
    end
end

function json_unit(s::String, i::Int)
    digits = codeunits(s)[i:min(i + 3, end)]
    length(digits) == 4 && all(c -> isxdigit(Char(c)), digits) || json_error(i, "expected four hexadecimal digits")
    return parse(UInt32, String(digits), base=16)
end

# Writing, in the bytes of Python's json.dumps. where names the value in messages.

"The JSON text of a value: ASCII, as Python's `json.dumps` writes it."
json(value, where::AbstractString) = sprint(write_json, value, where)

write_json(io::IO, ::Nothing, where) = print(io, "null")
write_json(io::IO, v::Union{Bool,Integer}, where) = print(io, v)
write_json(io::IO, v::AbstractString, where) = write_string(io, String(v), where)
write_json(io::IO, v::Tuple, where) = write_list(io, v, where)
write_json(io::IO, v::AbstractVector, where) = write_list(io, v, where)
write_json(io::IO, v::AbstractArray{<:Any,0}, where) = write_json(io, v[], where)
# The last axis of a Julia array is the first of nested lists, as everywhere between this package and a file.
write_json(io::IO, v::AbstractArray{<:Any,N}, where) where {N} = write_list(io, (selectdim(v, N, i) for i in axes(v, N)), where)
write_json(io::IO, v::Union{AbstractDict,NamedTuple}, where) = write_object(io, pairs(v), where)
write_json(io::IO, v, where) = throw(NDFileError(NDF_ERR_DTYPE, "$where: a $(typeof(v)) cannot be stored as JSON"))

function write_list(io::IO, list, where)
    print(io, '[')
    for (i, v) in enumerate(list)
        i > 1 && print(io, ", ")
        write_json(io, v, where)
    end
    print(io, ']')
end

function write_object(io::IO, pairs, where)
    print(io, '{')
    for (i, (k, v)) in enumerate(pairs)
        k isa Union{AbstractString,Symbol} ||
            throw(NDFileError(NDF_ERR_DTYPE, "$where: expected keys as String, found $(repr(k))"))
        i > 1 && print(io, ", ")
        write_string(io, String(k), where)
        print(io, ": ")
        write_json(io, v, "$where $(repr(String(k)))")
    end
    print(io, '}')
end

function write_string(io::IO, s::String, where)
    print(io, '"')
    for c in s
        if c in ('"', '\\')
            print(io, '\\', c)
        elseif ' ' <= c <= '~'
            print(io, c)
        elseif c in "\b\f\n\r\t"
            print(io, '\\', "bfnrt"[findfirst(==(c), "\b\f\n\r\t")])
        elseif isvalid(c) || !Base.ismalformed(c) && 0xd800 <= codepoint(c) <= 0xdfff
            u = codepoint(c)
            if u > 0xffff
                u -= 0x10000
                write_unit(io, 0xd800 + u >> 10)
                u = 0xdc00 + u & 0x3ff
            end
            write_unit(io, u)
        else
            throw(NDFileError(NDF_ERR_VALUE, "$where: $(repr(s)) is not valid UTF-8"))
        end
    end
    print(io, '"')
end

write_unit(io::IO, u) = print(io, "\\u", string(u, base=16, pad=4))

# Floats as Python's repr: the shortest digits that read back, an exponent below 1e-4 and from 1e16 on.
function write_json(io::IO, v::Union{Float16,Float32,Float64}, where)
    x = Float64(v)
    isfinite(x) || return print(io, isnan(x) ? "NaN" : x > 0 ? "Infinity" : "-Infinity")
    signbit(x) && print(io, '-')
    m = match(r"^(\d+)\.(\d+)(?:e(.+))?$", string(abs(x)))
    digits = lstrip(m[1] * m[2], '0')
    point = length(m[1]) - (length(m[1] * m[2]) - length(digits)) + (m[3] === nothing ? 0 : parse(Int, m[3]))
    digits = rstrip(digits, '0')
    n = length(digits)
    if n == 0
        print(io, "0.0")
    elseif -4 < point <= 16
        point <= 0 ? print(io, "0.", '0'^-point, digits) :
        point >= n ? print(io, digits, '0'^(point - n), ".0") : print(io, digits[1:point], '.', digits[point+1:end])
    else
        print(io, digits[1], n > 1 ? "." : "", digits[2:end], point > 0 ? "e+" : "e-", lpad(abs(point - 1), 2, '0'))
    end
    return nothing
end
