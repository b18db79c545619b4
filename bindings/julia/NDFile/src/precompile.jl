# What a session does first is inferred when the package is compiled: opening, a slice, an element, reading and saving a whole file.

function prepare_session()
    precompile(open, (String,))
    precompile(open, (String, String))
    precompile(read, (String,))
    precompile(read, (String, String))
    precompile(Base.getindex, (File, String))
    precompile(close, (File,))
    for T in (Float32, Float64, Int32, Int64), N in 1:3
        A = NDArray{T,N}
        precompile(Memory{T,N}, ())
        for J in Iterators.product(ntuple(_ -> (Int, UnitRange{Int}, Colon), N)...)
            precompile(Base.getindex, (A, J...))
            precompile(places, (A, Tuple{J...}))
        end
        for J in Iterators.product(ntuple(_ -> (Int, UnitRange{Int}, Base.Slice{Base.OneTo{Int}}), N)...)
            precompile(getplaces, (A, Tuple{J...}))
        end
        R = StepRange{Int,Int}
        precompile(read_box, (Type{T}, A, NTuple{N,R}))
        precompile(read_box, (Type{T}, DType{T}, A, NTuple{N,R}))
        precompile(read_fixed, (Type{T}, DType{T}, A, NTuple{N,Int}, typeof(ndf_array_read), Tuple{Int,Vector{Int64},Vector{Int64},Vector{Int64}}))
        precompile(read_near, (A, Memory{T,N}, Nothing, NTuple{N,Int}))
        precompile(read_near, (A, Memory{T,N}, Window{T,N}, NTuple{N,Int}))
        precompile(sum, (A,))
        precompile(save, (String, Pair{String,Array{T,N}}))
    end
    return nothing
end

prepare_session()
