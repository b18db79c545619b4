# What is written comes back: every dtype, missing elements, strings, scalars, attributes, structs.

using Random

struct Foo # 80 bytes without padding: 12 + 4 + 64
    name::NTuple{12,UInt8}
    n::Int32
    x::NTuple{8,Float64}
end

struct Padded
    a::UInt8
    b::Float64
    c::UInt16
end

# Random bits, so NaNs of all kinds too.
random(T, shape) = copyto!(Array{T}(undef, shape), collect(reinterpret(T, rand(UInt8, sizeof(T) * prod(shape)))))
random(::Type{Bool}, shape) = Array(rand(Bool, shape))

function masked(a::Array{T}) where {T}
    m = Array{Union{Missing,T}}(a)
    m[rand(length(m)) .< 0.4] .= missing
    length(m) > 0 && (m[end] = missing)
    return m
end

const SHAPES = [(), (0,), (7,), (3, 4), (2, 0, 3), (2, 3, 4)]

@testset "ds round trips" begin
    types = (Bool, Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Float32, Float64)

    @testset "$T" for T in types
        a, s, m = random(T, (3, 4)), random(T, ()), masked(random(T, (9,)))
        NDFile.save("t.ds", Dict("a" => a, "s" => s, "m" => m))
        back = NDFile.read("t.ds")
        @test same(back["a"], a) && same(back["s"], s[]) && same(back["m"], m)
    end

    # Declared first and written along the last axis, or all at once: the same file.
    @testset "piecewise $T" for T in (Bool, Int16, Float64)
        arrays = Dict{String,Any}()
        for (i, shape) in enumerate(SHAPES)
            arrays["p$i"] = random(T, shape)
            prod(shape) > 0 && (arrays["m$i"] = masked(random(T, shape)))
        end
        delete!(arrays, "m1") # an element that is missing has no type
        NDFile.save("t.ds", arrays)
        NDFile.open("u.ds", "w") do f
            for (name, a) in arrays
                v = NDFile.create(f, name, eltype(a), size(a))
                if ndims(a) == 0
                    v[] = a[]
                elseif isempty(a)
                    v[axes(a)...] = a
                else
                    for i in axes(a, ndims(a))
                        v[axes(a)[1:end-1]..., i:i] = selectdim(a, ndims(a), i:i)
                    end
                end
            end
        end
        @test Base.read("t.ds") == Base.read("u.ds")
        @test all(same(x, arrays[name][axes(arrays[name])...]) for (name, x) in NDFile.read("u.ds"))
    end

    @testset "strings" begin
        s, b = ["", "Praha", "žluťoučký\0kůň", "😀"], [UInt8[], UInt8[0, 255], b"abc", zeros(UInt8, 3)]
        NDFile.save("s.ds", "s" => s, "b" => b, "s2" => [s s], "ms" => [missing; s], "mb" => [missing; b], "one" => "text",
            "bone" => fill(UInt8[1, 0]), "sub" => split("a b c"), "any" => Any["x", "y"], "large" => fill("x"^1000, 100), "none" => String[])
        d = NDFile.read("s.ds")
        @test same(d["s"], s) && same(d["b"], Vector{UInt8}.(b)) && same(d["s2"], [s s]) && d["one"] == "text" && d["bone"] == UInt8[1, 0]
        @test isequal(d["ms"], [missing; s]) && isequal(d["mb"], [missing; b])
        @test d["sub"] == ["a", "b", "c"] && d["any"] == ["x", "y"] && d["large"] == fill("x"^1000, 100) && d["none"] == []
        NDFile.open("s.ds") do f
            @test f["s2"][[4, 3], 2] == s[[4, 3]] && f["s2"][2, 1] == "Praha"
            @test isequal(f["ms"][1:2], [missing, ""]) && eltype(f["ms"]) == Union{Missing,String}
            @test f["large"][100:-1:1] == fill("x"^1000, 100)
        end
        NDFile.open("s2.ds", "w") do f
            v = NDFile.create(f, "s", String, (2, 2))
            v[:, 1] = ["a", "bb"]
            v[:, 2:2] = reshape(["ccc", ""], 2, 1)
            f["b"] = fill(b"bytes")
        end
        @test NDFile.read("s2.ds", "s") == ["a" "ccc"; "bb" ""] && NDFile.read("s2.ds", "b") == b"bytes"
        @test_throws NDFileError NDFile.save("bad.ds", "s" => ["\xff"])
        @test !ispath("bad.ds")
    end

    @testset "any array" begin
        a = reshape(collect(1.0:24.0), 2, 3, 4)
        given = (range=1:5, transposed=a[:, :, 1]', permuted=PermutedDimsArray(a, (3, 1, 2)), view=view(a, 2:-1:1, :, 2),
            contiguous=view(a, :, :, 2), bits=trues(3, 3), any=Any[1, 2], number=3, half=true, big=Array{Real}([1.5, 2.5]),
            maybe=Union{Missing,Int}[1, 2], reinterpreted=reinterpret(Int64, a))
        NDFile.save("a.ds", given)
        back = NDFile.read("a.ds")
        @test all(isequal(back[String(name)], x) for (name, x) in pairs(given))
        @test eltype(back["maybe"]) == Int && back["number"] === 3 && back["half"] === true
        NDFile.open("a.ds") do f
            NDFile.save("b.ds", Dict(name => x for (name, x) in f))
            NDFile.open(g -> g["x"] = f["view"], "c.ds", "w")
        end
        @test Base.read("a.ds") == Base.read("b.ds")
        @test NDFile.read("c.ds")["x"] == given.view
        NDFile.save("e.ds")
        @test isempty(NDFile.read("e.ds"))
    end

    @testset "metadata" begin
        attrs = NDFile.OrderedDict{Any}("z" => 1, "a" => Any[1.5, NaN, big(2)^80, nothing, true, "é"],
            "d" => NDFile.OrderedDict{Any}("x" => Any[]), "\xed\xb3\xbf" => "\xed\xa0\x80") # lone surrogates
        NDFile.save("m.ds", "x" => rand(2, 3), "y" => [1]; attrs=attrs, dims=Dict("x" => ("lat", "time"), "y" => "n"),
            var_attrs=["x" => (units="K", valid=(0, 1f0))])
        NDFile.open("m.ds") do f
            @test same(NDFile.OrderedDict{Any}(f.attrs...), attrs)
            @test f["x"].dims == ("lat", "time") && f["y"].dims == ("n",)
            @test collect(f["x"].attrs) == ["units" => "K", "valid" => Any[0, 1.0]] && isempty(f["y"].attrs)
            @test sprint(show, f) == "NDFile.File(\"m.ds\": ds dataset, mode \"r\", \"x\", \"y\")"
            @test sprint(show, f["x"]) == "2×3 NDArray{Float64,2} \"x\" of \"m.ds\""
            @test sprint(show, "text/plain", f["y"]) == "1-element NDArray{Int64,1} \"y\" of \"m.ds\":\n 1"
            @test sprint(summary, f["y"]) == "1-element NDArray{Int64,1} \"y\" of \"m.ds\""
            @test haskey(f, "x") && !haskey(f, "z") && length(f) == 2 && first.(collect(f)) == ["x", "y"]
            @test f["x"] === f["x"]
        end
        NDFile.open("m.ds", "w"; attrs=(a=1, b=2)) do f
            f.attrs["c"] = 3
            delete!(f.attrs, "a")
            v = NDFile.create(f, "x", "<i2", (3,); dims=("n",), attrs=(units="K",))
            v.attrs["more"] = [1, 2]
            v[:] = 1:3
            merge!(f.attrs, Dict("d" => 4))
        end
        NDFile.open("m.ds") do f
            @test collect(f.attrs) == ["b" => 2, "c" => 3, "d" => 4]
            @test collect(f["x"].attrs) == ["units" => "K", "more" => Any[1, 2]] && f["x"].dtype == "<i2" && f["x"][:] == 1:3
        end
        NDFile.open("big.ds", "w") do f
            NDFile.create(f, "x", ">f4", (2,))[:] = [1.5, -2]
        end
        NDFile.open(f -> (@test f["x"].dtype == ">f4" && f["x"][:] == Float32[1.5, -2]), "big.ds")
    end

    @testset "names" begin
        names = ["", "a/b", ".dot", "\\back", "two\nlines", "é😀", "1"]
        NDFile.save("n.ds", (n => [i] for (i, n) in enumerate(names))...)
        @test sort(collect(keys(NDFile.read("n.ds")))) == sort(names)
        @test all(NDFile.read("n.ds", n) == [i] for (i, n) in enumerate(names))
        NDFile.open(f -> (@test all(f[n][1] == i for (i, n) in enumerate(names))), "n.ds")
    end
end

@testset "rawarray round trips" begin
    types = (Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Int128, UInt128, Float16, Float32, Float64,
        Complex{Float16}, Complex{Float32}, Complex{Float64}, Bool)
    @testset "$T" for T in types
        for s in (T === Float32 ? SHAPES : [(), (2, 3, 4)])
            a = random(T, s)
            rawrite(a, "t.ra")
            @test same(raread("t.ra"), a)
            @test same(NDFile.read("t.ra"), ndims(a) == 0 ? a[] : a)
            @test same(raread(T, "t.ra"), a)
            T === Bool && continue
            NDFile.save("u.ra", a)
            @test Base.read("t.ra") == Base.read("u.ra")
        end
    end

    @testset "compressed as RawArray.jl has it" begin
        for T in (types..., BitArray), s in [(0,), (65,), (2, 3, 4)]
            a = T === BitArray ? BitArray(rand(Bool, s)) : T === Int128 ? Int128.(random(Int64, s)) : random(T, s)
            rawrite(a, "z.ra"; compress=true)
            @test isequal(raread("z.ra"), a)
            flags, eltype, elbyte, size = ltoh.(reinterpret(UInt64, Base.read("z.ra")[9:40]))
            @test flags == (T === BitArray ? 6 : T <: Integer ? 2 : 0) && (eltype == 5) == (T in (Bool, BitArray))
            @test size == (T === BitArray ? 8 * cld(length(a), 64) : sizeof(a))
            @test occursin("compressed: $(flags & 2)\nbits: $(flags & 4)", raquery("z.ra"))
        end
        rawrite([1, -1, 64, -65], "z.ra"; compress=true)
        @test Base.read("z.ra")[57:end] == [0x02, 0x01, 0x80, 0x01, 0x81, 0x01]
    end

    @testset "stored dims are Julia's" begin
        rawrite(reshape(UInt8.(1:6), 3, 2), "d.ra")
        words = reinterpret(UInt64, Base.read("d.ra")[1:64])
        @test ltoh.(words[6:8]) == [2, 3, 2] && Base.read("d.ra")[65:end] == 1:6
    end

    @testset "structs" begin
        foos = [Foo(Tuple(UInt8.(i:i+11)), i, Tuple(rand(8))) for i in 1:3]
        rawrite(foos, "foo.ra")
        @test raread(Foo, "foo.ra") == foos && filesize("foo.ra") == 56 + 240
        @test eltype(raread("foo.ra")) == NTuple{80,UInt8}
        pads = [Padded(1, 2.5, 3) Padded(4, -0.0, 6)]
        rawrite(pads, "pad.ra")
        @test raread(Padded, "pad.ra") == pads
        raw = Base.read("pad.ra")[65:end]
        @test all(iszero, raw[[2:8; 19:24; 26:32; 43:48]]) && raw[1] == 1 && raw[25] == 4
        named = [(x=1f0, y=Int32(2)), (x=3f0, y=Int32(4))]
        NDFile.save("named.ra", named)
        @test raread(eltype(named), "named.ra") == named
        wide = [Tuple(rand(UInt8, 300)) for _ in 1:2]
        NDFile.save("wide.ra", reinterpret(NTuple{300,UInt8}, vcat(collect.(wide)...)))
        @test raread("wide.ra") == collect.(wide)
        for T in (Float64, Union{Missing,Int}, String, NTuple{79,UInt8}, Any)
            @test_throws NDFileError raread(T, "foo.ra")
        end
    end

    @testset "other types" begin
        rawrite(Int16[1, -2], "i.ra")
        @test same(raread(Float64, "i.ra"), [1.0, -2.0]) && same(raread(Int64, "i.ra"), [1, -2])
        @test_throws NDFileError raread(Int8, "i.ra")
        @test_throws NDFileError raread(String, "i.ra")
        rawrite(BitArray([true false; false true]), "b.ra")
        @test same(raread("b.ra"), [true false; false true])
        NDFile.save("b.ra", [true, false])
        @test same(raread("b.ra"), UInt8[1, 0])
        # any byte but 0 is true, and true is one bit pattern
        bytes = Base.read("b.ra")
        bytes[17], bytes[57], bytes[58] = 5, 0x02, 0x00
        write("b.ra", bytes)
        @test same(raread("b.ra"), [true, false]) && same(NDFile.read("b.ra"), [true, false])
        @test Int(raread("b.ra")[1]) == 1
        NDFile.open("bf.ra", "w") do f
            NDFile.create(f, "", "bfloat16", (3,))[:] = [0x3f80, 0x7fc1, 0x8000]
        end
        x = NDFile.read("bf.ra")
        @test same(x, [0x3f80, 0x7fc1, 0x8000]) && same(bfloat16(x), Float32[1, reinterpret(Float32, 0x7fc10000), -0.0])
        @test NDFile.open(f -> f.array.dtype, "bf.ra") == "bfloat16" && ismissing(bfloat16(missing))
        @test_throws NDFileError rawrite(["a"], "s.ra")
        @test_throws NDFileError rawrite([1, missing], "s.ra")
        @test_throws NDFileError rawrite([Int128(2)^64], "s.ra"; compress=true)
        @test !ispath("s.ra")
    end
end

# Formats that hold these come later; the conversion is here.
@testset "fixed texts and records" begin
    function there_and_back(name, values)
        d = NDFile.DType(name)
        x = NDFile.prepare(values, "x", d)
        data = x.data
        GC.@preserve data NDFile.unpack(d, eltype(d), size(values), Ptr{UInt8}(pointer(data)), Ptr{Int64}(C_NULL), Ptr{UInt8}(C_NULL))
    end
    @test there_and_back("|S5", ["", "abc", "\xff1234"]) == ["", "abc", "\xff1234"]
    @test there_and_back("<U3", ["", "a\0b", "é😀"]) == ["", "a\0b", "é😀"]
    @test there_and_back("<M8[ns]", [1, typemin(Int64)]) == [1, typemin(Int64)]
    for (name, bad) in [("|S2", "abc"), ("|S2", "a\0"), ("<U1", "ab"), ("<U3", "\xff"), ("<U3", "a\0")]
        @test_throws NDFileError there_and_back(name, [bad])
    end
    # padding in Julia, none in the file; a bool; a sub-array; a text
    records = [(a=0x01, b=(1.5, -2.0), s="é", t=true, in=(x=Int16(3),)), (a=0x02, b=(NaN, 0.0), s="", t=false, in=(x=Int16(-4),))]
    name = "[[\"a\", \"|u1\"], [\"b\", \"<f8\", [2]], [\"s\", \"<U1\"], [\"t\", \"|b1\"], [\"in\", [[\"x\", \"<i2\"]]]]"
    @test NDFile.DType(name).size == 1 + 16 + 4 + 1 + 2 && isequal(there_and_back(name, records), records)
    nested = NDFile.DType("[[\"m\", \"<i4\", [2, 3]]]")
    @test eltype(nested) == NamedTuple{(:m,),Tuple{NTuple{2,NTuple{3,Int32}}}} && nested.plain
    @test NDFile.dtype_name(NamedTuple{(:x, :y, :z),Tuple{Float32,NamedTuple{(:a, :b),Tuple{Int8,UInt8}},NTuple{2,UInt8}}}) ==
        "[[\"x\", \"<f4\"], [\"y\", [[\"a\", \"|i1\"], [\"b\", \"|u1\"]]], [\"z\", \"|V2\"]]"
    @test NDFile.eltype(NDFile.DType("|V12")) == NTuple{12,UInt8} && eltype(NDFile.DType("|V2000000000")) == Vector{UInt8}
    @test_throws NDFileError NDFile.DType("[[\"m\", \"<i4\", [1000000]]]")
    for bad in ["q8", "<f3", "i99999999999", "<i8 ", "object"]
        @test_throws NDFileError NDFile.DType(bad)
    end
end
