# The files of pkg/ds/testdata and pkg/rawarray/testdata, value by value.

using Base64, SHA

files(folder, ending) = [joinpath(folder, f) for f in sort(readdir(folder)) if endswith(f, ending)]

@testset "ds" begin
    types = Dict("bool" => Bool, "str" => Vector{UInt8}, "unicode" => String, "float32" => Float32, "float64" => Float64,
        ("$p$n" => T for (p, n, T) in (("int", 8, Int8), ("int", 16, Int16), ("int", 32, Int32), ("int", 64, Int64),
            ("uint", 8, UInt8), ("uint", 16, UInt16), ("uint", 32, UInt32), ("uint", 64, UInt64)))...)

    function attribute(tagged)
        tag, v = tagged[1], length(tagged) > 1 ? tagged[2] : nothing
        tag == "null" && return nothing
        tag in ("string", "bool") && return v
        tag == "list" && return Any[attribute(x) for x in v]
        tag == "object" && return attributes(v)
        tag == "float" && return reinterpret(Float64, parse(UInt64, v))
        if tag == "int"
            n = parse(BigInt, v)
            return typemin(Int) <= n <= typemax(Int) ? Int(n) : n
        end
        @assert tag == "string-utf16be-base64"
        units = ntoh.(reinterpret(UInt16, base64decode(v)))
        # unpaired surrogates stay, as three bytes each
        return NDFile.parse_json('"' * join("\\u" * string(u, base=16, pad=4) for u in units) * '"')
    end
    attributes(list) = NDFile.OrderedDict{Any}((k => attribute(v) for (k, v) in list)...)

    function element(v, encoding, T)
        encoding == "float-bits" && return reinterpret(T, parse(T === Float32 ? UInt32 : UInt64, v))
        encoding == "int-decimal-string" && return parse(T, v)
        encoding == "base64" && return base64decode(v)
        return encoding == "int" ? T(v) : v
    end

    function values(v)
        v["shape"] === nothing && return nothing
        T = types[v["type"]]
        mask = v["mask"]
        list = [mask !== nothing && mask[i] == 1 ? missing : element(x, v["encoding"], T) for (i, x) in enumerate(v["values"])]
        a = Array{mask === nothing ? T : Union{Missing,T}}(undef, reverse(Int.(v["shape"]))...)
        copyto!(a, list)
        return isempty(v["shape"]) ? a[] : a
    end

    function check(path, want)
        arrays = NDFile.read(path)
        expected = NDFile.OrderedDict{Any}((v["name"] => values(v) for v in want["variables"])...)
        @test same(arrays, expected)
        NDFile.open(path) do f
            @test f.kind === :dataset && f.format == "ds"
            @test keys(f) == collect(keys(expected))
            @test same(Dict(f.attrs), Dict(attributes(want["attrs"]))) && collect(keys(f.attrs)) == first.(want["attrs"])
            for v in want["variables"]
                a = f[v["name"]]
                @test same(NDFile.read(a), values(v))
                @test same(NDFile.OrderedDict{Any}(a.attrs...), attributes(v["attrs"]))
                dims = v["dims"] isa Vector ? Tuple(reverse(v["dims"])) : nothing
                @test isequal(a.dims, dims) || dims === () && a.dims === nothing
                @test NDFile.hasdata(a) == (v["shape"] !== nothing)
                NDFile.hasdata(a) && @test a.masked == v["missing"]
            end
        end
        for v in want["variables"]
            @test same(NDFile.read(path, v["name"]), values(v))
        end
    end

    folder = joinpath(PACKAGES, "ds", "testdata")
    @testset "$(basename(path))" for path in files(joinpath(folder, "valid"), ".ds")
        check(path, expectation(path * ".json"))
    end

    # A quirk has several right outcomes; an error counts for the variable where it appears.
    @testset "$(basename(path))" for path in files(joinpath(folder, "quirks"), ".ds")
        want = expectation(path * ".json")
        tolerated(e) = "error" in want["accept"] && e isa NDFileError
        f = try
            NDFile.open(path)
        catch e
            @test tolerated(e)
            continue
        end
        for v in want["variables"]
            x = try
                NDFile.read(f[v["name"]])
            catch e
                @test tolerated(e)
                continue
            end
            @test same(x, values(v))
        end
        close(f)
        try
            @test all(same(x, values(v)) for (x, v) in zip(Base.values(NDFile.read(path)), want["variables"]))
        catch e
            @test tolerated(e)
        end
    end

    @testset "$(basename(path))" for path in files(joinpath(folder, "malformed"), ".ds")
        accept = expectation(path * ".json")["accept"]
        other = length(accept) == 1 ? nothing : accept[2] == "last" ? Int32[2] : Int32[1, 2]
        for readall in (NDFile.read, p -> NDFile.open(f -> Dict(name => NDFile.read(a) for (name, a) in f), p))
            arrays = try
                readall(path)
            catch e
                @test e isa NDFileError
                @test occursin(basename(path), e.message)
                continue
            end
            @test other !== nothing && same(only(Base.values(arrays)), other)
        end
    end
end

if !any(f -> f.name == "rawarray", NDFile.formats())
    @warn "RAWARRAY IS NOT TESTED: the library at $(get(ENV, "NDFILE_LIB", "?")) does not have the format"
else
    @testset "rawarray" begin
        folder = joinpath(PACKAGES, "rawarray", "testdata")
        types = Dict(("int", 1) => Int8, ("int", 2) => Int16, ("int", 4) => Int32, ("int", 8) => Int64, ("int", 16) => Int128,
            ("uint", 1) => UInt8, ("uint", 2) => UInt16, ("uint", 4) => UInt32, ("uint", 8) => UInt64, ("float", 2) => Float16,
            ("float", 4) => Float32, ("float", 8) => Float64, ("complex", 4) => Complex{Float16}, ("complex", 8) => Complex{Float32},
            ("complex", 16) => Complex{Float64}, ("bfloat", 2) => UInt16, ("bool", 1) => Bool,
            ("bool", 8) => Bool)

        element(T, v) = T(v)
        element(::Type{T}, v::String) where {T<:Integer} = parse(T, v)
        element(::Type{T}, v::String) where {T<:AbstractFloat} = T(parse(Float64, v))
        element(::Type{Complex{T}}, v) where {T} = Complex(element(T, v[1]), element(T, v[2]))
        element(::Type{NTuple{n,UInt8}}, v::String) where {n} = Tuple(hex2bytes(v))

        @testset "$(basename(path))" for path in files(joinpath(folder, "valid"), ".ra")
            want = expectation(path[1:end-3] * ".json")
            header = want["header"]
            a = raread(path)
            T = want["kind"] == "user" ? NTuple{header["elbyte"],UInt8} : types[want["kind"], header["elbyte"]]
            @test eltype(a) == T && size(a) == Tuple(header["dims"])
            list = want["values_file_order"]
            if T === UInt16 && want["kind"] == "bfloat"
                @test all(same(x, element(Float32, v)) for (x, v) in zip(vec(bfloat16(a)), list))
            else
                @test all(same(x, element(T, v)) for (x, v) in zip(vec(a), list))
            end
            @test length(a) == length(list) == want["nelem"]
            if want["byte_order"] == "little"
                bytes = Vector{UInt8}(undef, sizeof(a))
                GC.@preserve a unsafe_copyto!(pointer(bytes), Ptr{UInt8}(pointer(a)), length(bytes))
                @test bytes2hex(sha256(bytes)) == want["decoded_data_sha256"]
            end
            one = NDFile.read(path)
            @test same(one, ndims(a) == 0 ? a[] : a)
            NDFile.open(path) do f
                @test f.kind === :array && f.format == "rawarray" && keys(f) == [""]
                @test same(Array(f.array), a) && same(NDFile.read(f[""]), one)
            end
        end

        @testset "$(want["file"])" for want in expectation(joinpath(folder, "malformed", "expected.json"))
            path = joinpath(folder, "malformed", want["file"])
            @test want["expect"] == "error"
            for readall in (raread, raquery, NDFile.read)
                e = try
                    readall(path)
                catch e
                    e
                end
                @test e isa NDFileError && occursin(want["file"], e.message)
            end
        end

        @testset "raquery" begin
            @test raquery(joinpath(folder, "valid", "test.ra")) == "---\nname: $(joinpath(folder, "valid", "test.ra"))\nendian: little\n" *
                "compressed: 0\nbits: 0\ntype: Complex{Float32}\nsize: 96\ndimension: 2\nshape:\n  - 3\n  - 4\n..."
            @test occursin("endian: big", raquery(joinpath(folder, "valid", "be_f8_2x2x2.ra")))
            @test occursin("type: user640\nsize: 240", raquery(joinpath(folder, "valid", "user80_struct_foo_3.ra")))
        end
    end
end
