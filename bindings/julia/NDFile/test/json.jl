# The JSON of attributes: as Python writes and reads it.

@testset "json" begin
    text(v) = NDFile.json(v, "x")
    for (v, s) in [nothing => "null", true => "true", 5 => "5", typemin(Int64) => "-9223372036854775808",
        big(2)^70 => "1180591620717411303424", typemax(UInt64) => "18446744073709551615", 1.0 => "1.0", -0.0 => "-0.0",
        0.1f0 => "0.10000000149011612", 1e16 => "1e+16", 9999999999999998.0 => "9999999999999998.0", 1e-4 => "0.0001",
        1e-5 => "1e-05", 1.5e-7 => "1.5e-07", 5e-324 => "5e-324", 1.7976931348623157e308 => "1.7976931348623157e+308",
        123456.789 => "123456.789", NaN => "NaN", Inf => "Infinity", -Inf => "-Infinity",
        "a\"\\\n\t\b\f\r\x01\x7f" => "\"a\\\"\\\\\\n\\t\\b\\f\\r\\u0001\\u007f\"",
        "é😀" => "\"\\u00e9\\ud83d\\ude00\"", Any[] => "[]",
        [1, 2] => "[1, 2]", (1, "b") => "[1, \"b\"]", [1 2; 3 4] => "[[1, 3], [2, 4]]", fill(3) => "3",
        (a=1, b=(c=nothing,)) => "{\"a\": 1, \"b\": {\"c\": null}}", Dict("k" => [1.5]) => "{\"k\": [1.5]}", 1:3 => "[1, 2, 3]"]
        @test text(v) == s
        v isa Union{Bool,Int,Float64,BigInt,String,Nothing} && @test isequal(NDFile.parse_json(s), v)
    end
    @test isequal(NDFile.parse_json(" { \"b\" : [ 1 , -2.5e3 , 1e400, -1e-400, -0 ] , \"a\" : \"\\ud800x\\/\" , \"b\":1 } "),
        NDFile.OrderedDict{Any}("b" => 1, "a" => "\xed\xa0\x80x/"))
    @test isequal(NDFile.parse_json("[1e400, -1e400, 1e-400]"), Any[Inf, -Inf, 0.0])
    @test text(NDFile.parse_json("\"\\udcff\\ud83d\\ud83d\\ude00\"")) == "\"\\udcff\\ud83d\\ud83d\\ude00\""
    @test NDFile.parse_json("123456789012345678901234567890") == big"123456789012345678901234567890"

    for bad in ["", " ", "{", "[1,]", "[,1]", "\"", "\"\\x\"", "\"\\u12", "\"\\u12é4\"", "01", "+1", ".5", "1.", "1 2", "{1: 2}",
        "{\"a\" 1}", "{\"a\": 1,}", "tru", "nan", "[1 2]",
        "-", "[[[", "["^100_000]
        @test_throws NDFileError NDFile.parse_json(bad)
    end
    for bad in [1 + 2im, 'c', "\xff", Dict(1 => 2), missing, Ref(1), [1, :a], big"1.5"]
        e = try
            text(bad)
        catch e
            e
        end
        @test e isa NDFileError && occursin("x", e.message)
    end

    d = NDFile.OrderedDict{Any}("b" => 1, "a" => 2, "b" => 3)
    @test collect(d) == ["b" => 3, "a" => 2] && length(d) == 2 && haskey(d, "a") && !haskey(d, "c") && get(d, "c", 0) == 0
    delete!(d, "b")
    d["c"] = 4
    @test collect(keys(d)) == ["a", "c"] && d["a"] == 2 && d["c"] == 4
    @test_throws KeyError d["b"]
end
