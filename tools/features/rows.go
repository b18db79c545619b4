package features

const intro = `<!-- Made by go test ./tools/features -update. -->

# What each language can do

A test of the language makes each call. In C++ and Fortran C's functions can be called as well, by the header and the module: the table
names them, as "C's", where there is nothing of their own.

| |`

var rows = []row{
	{"open; nothing is read yet", [6]string{"ndf_file_open", "file::open", "ndfile.Open", "ndfile.open", "NDFile.open", "ndf_open"}},
	{"create, to be written piece by piece", [6]string{"ndf_file_create", "file::create", "ndfile.Create", "ndfile.open(path, \"w\")~ndfile\\.open\\([^)]*\"w\"", "NDFile.create", "ndf_create"}},
	{"save in one call", [6]string{"ndf_save", "ndfile::save", "ndfile.Save", "ndfile.save", "NDFile.save", "C"}},
	{"read a whole file in one call", [6]string{"ndf_load", "ndfile::load", "ndfile.Load", "ndfile.read", "NDFile.read", "C"}},
	{"thousands of small files at once", [6]string{"ndf_load_many", "ndfile::load_many", " goroutines of your own", "ndfile.read_many", "NDFile.read_many", "C"}},
	{"from memory, streams or stores of your own", [6]string{" files and zip archives only", " as C", "ndfile.OpenStore", "ndfile.read(stream)~BytesIO", "NDFile.read(io)~NDFile\\.read\\(IOBuffer", " as C"}},
	{"read a box, with steps", [6]string{"ndf_array_read", ".read<T>(box)~\\.read<", "ndfile.Read[T]~ndfile\\.Read\\[", "a[1:9:2]~\\[[^\\]]*::-?\\d", "a[1:2:9, :]~f?\\.?a\\[.*:.*\\]", "ndf_get"}},
	{"into memory of yours, with strides", [6]string{"ndf_array_read", ".read_into(view)~read_into\\(ndfile::view", "ReadBox", "a.read(out=buf)~\\.read\\([^)]*out=", "NDFile.readblock!~readblock!", "C"}},
	{"into smaller types, with a check", [6]string{"ndf_array_read_narrow", ".read_narrow<T>()~read_narrow<", "ndfile.ReadNarrow", "a.read(out=buf, narrow=True)~narrow=True", "NDFile.readnarrow", "C"}},
	{"scattered rows", [6]string{"ndf_array_take", "a.take<T>(rows)~\\.take<", "ndfile.Take~\\bTake\\(", "a.take(rows)~\\.take\\(", "a[[5, 1], :]~\\[\\[\\d", "C"}},
	{"missing elements", [6]string{"ndf_array_read", ".read_masked<T>()~read_masked<", "ndfile.ReadMasked", "numpy.ma~np\\.ma\\.", "missing", "mask"}},
	{"texts", [6]string{"ndf_array_read_strings", ".read_strings()~read_strings", "ndfile.ReadStrings", "dtype object~dtype=object", "String", "C"}},
	{"dates", [6]string{" counts of units", " counts of units", "time.Time in ndfile.Rows~\\bT time\\.Time", "datetime64", "NDFile.dates", " counts of units"}},
	{"scale, offset, CF times decoded", [6]string{" stored elements", " stored elements", " stored elements", "ndfile.open(path, decode=True)~decode=True", " stored elements", " stored elements"}},
	{"write a box", [6]string{"ndf_array_write", ".write(memory, box)~\\.write\\(", "ndfile.Write~ndfile\\.Write\\(", "a[1:3] = x~\\w\\[[^\\]]*\\] = ", "a[:, 1] = x~a\\[.*\\] = ", "ndf_put"}},
	{"append, resize", [6]string{"ndf_array_append", "a.append(memory)~\\ba\\.append\\(", "ndfile.Resizer~\\(ndfile\\.Resizer\\)", "a.append(x)~\\.append\\(", "append!~append!", "C"}},
	{"blocks and chunks in loops", [6]string{"ndf_array_info~\\.chunks\\[", "a.each_chunk()~each_chunk", "ndfile.Blocks[T]~ndfile\\.Blocks\\[", "a.iterblocks()~iterblocks", "NDFile.eachchunk", " ndf_shape, and a loop"}},
	{"stored bytes of a chunk", [6]string{"ndf_array_read_chunk", ".read_chunk(index)~read_chunk", "ndfile.Chunked~\\.ReadChunk\\(", "a.read_chunk(index)~\\.read_chunk\\(", "NDFile.readchunk", "C"}},
	{"map, without reading", [6]string{"ndf_array_map", ".map<T>()~\\.map<", "ndfile.Mapper~\\.Map\\(", "a.map()~\\.map\\(", "NDFile.mmap", "C"}},
	{"rows of tables", [6]string{"ndf_table_append", "f.append_rows(rows)~\\.append_rows\\(", "ndfile.Rows[R]~ndfile\\.Rows\\[", "t[5:9]~t\\[", "f[2:3]~f\\[\\d+:\\d+\\]", "C"}},
	{"rows by conditions, also as text (or, in)", [6]string{"ndf_table_where", "f.where(~\\bf\\.where\\(", "ndfile.ParseCondition", "t.where(~\\.where\\(", "NDFile.where", "C"}},
	{"sums and extremes, block by block", [6]string{"ndf_array_reduce", "a.reduce(~\\ba\\.reduce\\(", "ndfile.Reduce~\\bReduce\\(", "a.mean()~\\.mean\\(", "sum(a)", "C"}},
	{"Arrow", [6]string{"ndf_table_arrow", "C", "ndarrow.NewReader", "__arrow_c_stream__", " a NamedTuple of columns, as Tables.jl takes it", "C"}},
	{"matrices of others", [6]string{" memory with strides", "ndfile::view(matrix)~ndfile::view\\(m\\)", "ndmat.Dense", "numpy.asarray(a)~np\\.asarray\\(", "a is an AbstractArray~permutedims\\(a", "real(c_double), allocatable~allocatable"}},
	{"attributes", [6]string{"ndf_array_get_attrs", "f.attrs_json()~\\.attrs_json\\(\\)", "f.Attrs()~\\.Attrs\\(\\)", "f.attrs~\\.attrs\\[", "f.attrs~\\.attrs\\[", "ndf_attrs"}},
	{"groups", [6]string{"ndf_file_add_group", "f.add_group(name)~\\.add_group\\(", "ndfile.Tree~Tree\\)", "create_group", "NDFile.create_group", "C"}},
	{"convert", [6]string{"ndf_convert", "ndfile::convert", "ndfile.Convert~\\bConvert\\(", "ndfile.convert", "NDFile.convert", "C"}},
	{"verify, repair, seal", [6]string{"ndf_verify", "ndfile::verify", "ndfile.Verify~\\bVerify\\(", "ndfile.verify", "NDFile.verify", "C"}},
	{"split and concat stores", [6]string{"ndf_split", "ndfile::split", "ndfile.Split~\\bSplit\\(", "ndfile.split", "NDFile.split", "C"}},
	{"Blosc chunks", [6]string{"ndf_blosc_compress", "ndfile::blosc::compress", "blosc.Encode~\\bEncode\\(dst", "ndfile.blosc~blosc\\.compress", " through arrays", "C"}},
	{"progress and cancelling", [6]string{"ndf_progress~\\.progress = ", "options.progress~\\.progress = ", "context.WithCancel", "progress=~progress=", "progress=~progress=", " not yet: C's options take a callback"}},
	{"errors with code, place and reason", [6]string{"ndf_error", "ndfile::error", "errors.Is", "ndfile.NdfileError", "NDFileError", "ndf_message"}},
}
