@testset "groups" begin
    for format in ("zarr2", "zarr3")
        path = "tree-$format"
        NDFile.open(path, "w"; format=format) do f
            f["ocean/deep/salt"] = Int32[35, 36]
            high = NDFile.create_group(f, "air/high"; attrs=(k=1,))
            high["temp"] = [1.5 2.5]
            NDFile.consolidate(f)
        end
        NDFile.open(path, "r+") do f
            @test f.kind === :dataset && keys(f) == ["air/high/temp", "ocean/deep/salt"]
            @test f.groups == ["air", "air/high", "ocean", "ocean/deep"]
            f["ocean"].attrs["wet"] = true
            NDFile.rename(f, "ocean/deep", "ocean/low")
            @test f["ocean/low/salt"][:] == [35, 36]
            delete!(f, "air")
            @test problem(() -> f["air"]) isa NDFileError
            @test problem(() -> NDFile.create_group(f, "ocean")).code == NDFile.NDF_ERR_NAME_EXISTS
        end
        NDFile.open(path) do f
            ocean = f["ocean"]
            @test ocean isa NDFile.Group && keys(ocean) == ["low/salt"] && ocean.groups == ["low"]
            @test ocean.attrs["wet"] === true && ocean["low"]["salt"][2] == 36 && haskey(ocean, "low")
        end
        @test isempty(NDFile.verify(path))
    end
end
