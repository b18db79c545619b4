# Every example in a docstring runs.

using Markdown

function examples(doc)
    blocks = String[]
    function walk(x)
        x isa Markdown.Code && x.language == "julia" && push!(blocks, x.code)
        x isa Markdown.MD && foreach(walk, x.content)
    end
    walk(doc)
    return blocks
end

@testset "examples of the documentation" begin
    count = 0
    for (binding, docs) in Base.Docs.meta(NDFile), doc in values(docs.docs)
        for code in examples(Markdown.parse(join(doc.text)))
            scope = Module(:Example)
            Core.eval(scope, :(using NDFile))
            @test (include_string(scope, code, "$(binding.var)"); true)
            count += 1
        end
    end
    @test count >= 8
    # Those of the READMEs and of the documentation, too.
    for (readme, n) in (joinpath(HERE, "..", "..", "..", "..", "README.md") => 1, joinpath(HERE, "..", "README.md") => 4,
                        joinpath(HERE, "..", "..", "..", "..", "docs", "start", "julia.md") => 4)
        found = examples(Markdown.parse(Base.read(readme, String)))
        @test length(found) >= n
        scope = Module(:Readme)
        Core.eval(scope, :(using NDFile))
        for code in found
            @test (include_string(scope, code, readme); true)
        end
    end
    # Every exported name has a docstring.
    @test all(name -> haskey(Base.Docs.meta(NDFile), Base.Docs.Binding(NDFile, name)), names(NDFile))
end
