# Tables: files whose arrays are columns of one length. Rows are counted from 1, along the last axis of every column.

"""
    NDFile.nrows(f::NDFile.File) -> Int

The number of rows of a table. Of columns that a crash has left uneven it is that of the shortest.

A file of kind `:table` is a collection of columns like any other file, and has rows besides:

- `f["price"]` is a column, a lazy [`NDArray`](@ref).
- `f[rows]` and `f[rows, columns]` read rows, for a number, a range, a vector of numbers or `:`. They give a `NamedTuple` with
  an array for each column, whose last axis are the rows, or a single element for a single row. A `NamedTuple` of vectors is
  what Tables.jl takes as a table: `DataFrame(f[:])`.
- `f[rows, "price"]` and `f[rows, :price]` read these rows of one column.
- `append!(f, rows)` takes a `NamedTuple`, a `Dict` or pairs of all columns; `push!(f, row)` one row, a `NamedTuple` or `Dict`
  of elements, or a `Tuple` of them in the order of `keys(f)`; `resize!(f, n)` sets the number of rows. All change all columns or
  none. Many rows at once are quicker.
- [`NDFile.where`](@ref) finds rows.

# Example
```julia
NDFile.save("trades.bcolz", (sym=["A", "B", "A"], price=[9.5, 20.0, 10.5]))
NDFile.open("trades.bcolz", "r+") do f
    push!(f, (price=21.0, sym="B"))
    @assert f.kind === :table && NDFile.nrows(f) == 4
    @assert f[2:3] == (sym=["B", "A"], price=[20.0, 10.5])
    @assert f[[4, 1], ["price"]] == (price=[21.0, 9.5],) && f[end].sym == "B"
    f["price"][1] = 9.25
    f["size"] = [100, 200, 300, 400]     # a new column
end
```
"""
function nrows(f::File)
    n = describe(p -> field(p, Val(:nrows)), f)
    n < 0 && throw(NDFileError(NDF_ERR_ARGUMENT, "$(f.path): a $(f.kind), which has no rows"))
    return Int(n)
end

const Rows = Union{Integer,Colon,AbstractVector{<:Integer}}

function Base.getindex(f::File, rows::Rows, columns=keys(f))
    nrows(f)
    length(columns) <= LARGE || throw(NDFileError(NDF_ERR_LIMIT, "$(f.path): $(length(columns)) columns in a NamedTuple; " *
        "at most $LARGE are supported in Julia: name fewer, or index them one by one"))
    return NamedTuple{Tuple(Symbol.(columns))}(Tuple(entries(f[String(name)], rows) for name in columns))
end

Base.getindex(f::File, rows::Rows, column::Union{AbstractString,Symbol}) = (nrows(f); entries(f[column], rows))

entries(a::NDArray{<:Any,N}, rows) where {N} = a[ntuple(_ -> Colon(), N - 1)..., rows]

function Base.append!(f::File, rows)
    columns = ItemList(0)
    for (name, value) in (rows isa NamedTuple ? pairs(rows) : rows)
        a = f[String(name)]
        x = prepare(value, place(a), a.type)
        x.mask === nothing || throw(NDFileError(NDF_ERR_NOT_SUPPORTED, "$(place(a)): missing elements cannot be appended"))
        push!(columns.kept, x)
        push!(columns.list, item(x, keep!(columns, ctext(a.name, "name")), keep!(columns, native(x.dtype.name))))
    end
    lock(f.lock) do
        GC.@preserve f columns call(ndf_table_append, number(f), columns.list, length(columns.list))
        foreach(refresh!, values(f.arrays))
    end
    return f
end

function Base.push!(f::File, row::Union{NamedTuple,Tuple,AbstractDict})
    names = row isa Tuple ? keys(f) : keys(row)
    length(names) == length(row) ||
        throw(NDFileError(NDF_ERR_ARGUMENT, "$(f.path): a row of $(length(row)) elements for $(length(names)) columns"))
    return append!(f, Items([String(name) => entry(f[String(name)], x) for (name, x) in zip(names, values(row))]))
end

# An element of a row as a column of one row.
entry(::NDArray{<:Any,1}, x) = [x]
function entry(a::NDArray, x)
    x isa AbstractArray || throw(NDFileError(NDF_ERR_SHAPE, "$(place(a)): expected an array of size $(size(a)[1:end-1]), found $(repr(x))"))
    return reshape(x, size(x)..., 1)
end

function Base.resize!(f::File, n::Integer)
    lock(f.lock) do
        GC.@preserve f call(ndf_table_resize, number(f), n)
        foreach(refresh!, values(f.arrays))
    end
    return f
end

const OPERATORS = Dict{Function,Int32}((==) => NDF_OP_EQ, (!=) => NDF_OP_NE, (<) => NDF_OP_LT, (<=) => NDF_OP_LE,
    (>) => NDF_OP_GT, (>=) => NDF_OP_GE)

"""
    NDFile.where(f::NDFile.File, conditions...; columns=keys(f), rows=1:NDFile.nrows(f), skip=0, limit=nothing)
        -> (rows=Vector{Int}, columns=NamedTuple)

The rows of a table for which all conditions hold, each `"column" => (comparison, constant)` with one of `==`, `!=`, `<`,
`<=`, `>`, `>=`, or `"column" => >=(10)`: their numbers, from 1, rising, and the given columns of them as `f[rows, columns]`
reads them. Columns are read block by block, those of later conditions only where the earlier ones hold.
[`NDFile.findrows`](@ref) gives the numbers only.

Comparisons are exact: neither elements nor constants are rounded. Constants are numbers and `Bool`s; texts for texts; for
times the count of units, for `M8` also a `Date`, a `DateTime` or a text in ISO 8601. With NaN and NaT only `!=` holds.

A condition can also be a text, `NDFile.where(f, "(price > 10) & (sym in ('A', 'B'))")`, with `&`, `|`, `~` (or `and`, `or`,
`not`), comparisons, `in` and arithmetic of columns; names that are no words stand in backquotes.

# Arguments
- `rows`: the part of the table to look at.
- `skip`: matching rows to leave out first; `limit`: give at most so many.

# Example
```julia
NDFile.save("trades.bcolz", (sym=["A", "B", "A"], price=[9.5, 20.0, 10.5]))
NDFile.open("trades.bcolz") do f
    rows, found = NDFile.where(f, "sym" => (==, "A"), "price" => (>, 10); columns=["price"])
    @assert rows == [3] && found.price == [10.5]
end
```
"""
function where(f::File, conditions::Union{Pair,AbstractString}...; columns=keys(f), options...)
    rows = findrows(f, conditions...; options...)
    return (rows=rows, columns=f[rows, columns])
end

const ROOM = 1 << 16 # rows of one call

"""
    NDFile.findrows(f::NDFile.File, conditions...; rows, skip, limit) -> Vector{Int}

The numbers of the rows for which all conditions hold, from 1; see [`NDFile.where`](@ref).
"""
function findrows(f::File, conditions::Union{Pair,AbstractString}...; rows::AbstractUnitRange{<:Integer}=1:nrows(f), skip::Integer=0,
                  limit::Union{Nothing,Integer}=nothing)
    limit === nothing || limit >= 0 || throw(NDFileError(NDF_ERR_ARGUMENT, "limit: expected 0 or more, found $limit"))
    kept, terms = [], ndf_term[]
    written = filter(c -> c isa AbstractString, collect(Any, conditions))
    text = (condition=ctext(join(("($c)" for c in written), " & "), "condition"),)
    wanted = isempty(written) ? NamedTuple() : map(ctext_field, text)
    for (column, condition) in filter(c -> c isa Pair, collect(Any, conditions))
        op, constant = comparison(condition)
        texts = (column=ctext(String(column), "name"), value_json=json(constant, "$(f.path): condition on $(repr(column))"))
        push!(kept, texts)
        push!(terms, cstruct(ndf_term, merge((op=op,), map(ctext_field, texts))))
    end
    found, n, next = Int[], Ref{Int64}(0), Ref{Int64}(first(rows) - 1)
    left = min(length(rows), something(limit, length(rows)))
    page = Vector{Int64}(undef, min(left, ROOM))
    while left > 0 && next[] >= 0 && next[] < last(rows)
        options = Ref(cstruct(ndf_where_options,
                              merge((start=next[], stop=Int64(last(rows)), skip=Int64(skip), limit=Int64(left)), wanted)))
        n[] = length(page)
        GC.@preserve f kept text call(ndf_table_where, number(f), terms, length(terms), options, page, n, next)
        append!(found, (page[i] + 1 for i in 1:n[]))
        left -= n[]
        skip = 0
    end
    return found
end

comparison(c::Base.Fix2) = comparison((c.f, c.x))
function comparison(c)
    c isa Tuple && length(c) == 2 && haskey(OPERATORS, c[1]) ||
        throw(NDFileError(NDF_ERR_ARGUMENT, "expected a condition such as (>, 10), found $(repr(c))"))
    return OPERATORS[c[1]], c[2] isa TimePoint ? string(c[2]) : c[2]
end
