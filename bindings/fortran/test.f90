! Tests of module ndfile: test FOLDER, an empty one. Prints what is wrong and stops with 1.
program test
  use, intrinsic :: iso_c_binding
  use ndfile
  implicit none
  character(500) :: folder
  integer :: failures
  failures = 0
  call get_command_argument(1, folder)
  call dataset
  call table
  call slices
  call errors
  call lowlevel
  if (failures > 0) then
    print '(i0, a)', failures, " checks failed"
    stop 1
  end if
  print '(a)', "fortran: all checks hold"

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    print '(2a)', "wrong: ", what
  end subroutine

  subroutine ok(status, err, what)
    integer(c_int32_t), intent(in) :: status
    type(ndf_error), intent(in) :: err
    character(*), intent(in) :: what
    if (status /= NDF_OK) print '(a)', ndf_message(err)
    call check(status == NDF_OK, what)
  end subroutine

  ! A ds file: several variables, names of axes, attributes, missing values, a scalar, a complex one.
  subroutine dataset
    integer(c_int64_t) :: f
    type(ndf_error) :: err
    real(c_double) :: t(4, 3)
    real(c_double), allocatable :: back(:, :), wide(:, :)
    real(c_float) :: r(5)
    logical(c_bool) :: gone(4, 3)
    logical(c_bool), allocatable :: missing(:, :)
    complex(c_double_complex), allocatable :: z(:)
    integer(c_int32_t) :: n
    integer(c_int64_t), allocatable :: extents(:)
    character(:), allocatable :: name, attrs
    integer :: i
    t = reshape([(i / 8.0d0, i=1, 12)], [4, 3])
    gone = .false.
    gone(2, 3) = .true.
    r = [(i * 0.5, i=1, 5)]
    call ok(ndf_create(trim(folder) // "/a.ds", f, attrs='{"title": "two \u00b0"}', err=err), err, "create")
    call ok(ndf_add(f, "temperature", t, dims=["lon ", "time"], attrs='{"units": "K"}', missing=gone, err=err), err, "add t")
    call ok(ndf_add(f, "r", r, err=err), err, "add r")
    call ok(ndf_add(f, "n", 42, err=err), err, "add n")
    call ok(ndf_close(f, err), err, "close")
    call ok(ndf_open(trim(folder) // "/a.ds", f, err=err), err, "open")
    call ok(ndf_name(f, 1, name, err), err, "name")
    call check(name == "n" .or. name == "r" .or. name == "temperature", "name is " // name)
    call check(ndf_name(f, 9, name) /= NDF_OK, "a name behind the last one")
    call ok(ndf_shape(f, "temperature", extents, err), err, "shape")
    call check(all(extents == [4, 3]), "shape of temperature")
    call check(ndf_get(f, "temperature", back) == NDF_ERR_MASKED, "missing elements without missing")
    call ok(ndf_get(f, "temperature", back, missing=missing, err=err), err, "get t")
    call check(all(logical(missing .eqv. gone)), "mask of temperature")
    call check(all(back == t .or. logical(gone)), "temperature")
    call ok(ndf_get(f, "temperature", back, start=[3, 1], count=[2, 2], err=err), err, "box of t")
    call check(all(back == t(3:4, 1:2)), "box of temperature")
    call ok(ndf_get(f, "temperature", back, start=[1_8, 1_8], count=[2_8, 2_8], step=[3_8, 1_8], err=err), err, "steps")
    call check(all(back == t(1:4:3, 1:2)), "steps of temperature")
    call ok(ndf_attrs(f, attrs, "temperature", err), err, "attrs")
    call check(attrs == '{"units": "K"}', "attributes are " // attrs)
    call ok(ndf_get(f, "n", n, err=err), err, "get n")
    call check(n == 42, "n")
    call check(ndf_get(f, "r", wide) == NDF_ERR_SHAPE, "another rank")
    call ok(ndf_close(f, err), err, "close")
    call ok(ndf_create(trim(folder) // "/z.ra", f, err=err), err, "create ra")
    call ok(ndf_add(f, "", [(1d0, 2d0), (3d0, -4d0)], err=err), err, "add z")
    call ok(ndf_close(f, err), err, "close ra")
    call ok(ndf_open(trim(folder) // "/z.ra", f, err=err), err, "open ra")
    call ok(ndf_get(f, "", z, err=err), err, "get z")
    call check(all(z == [(1d0, 2d0), (3d0, -4d0)]), "z")
    call ok(ndf_close(f, err), err, "close ra")
  end subroutine

  ! A table: a column of numbers and one of texts, then a part of the numbers changed in place.
  subroutine table
    integer(c_int64_t) :: f
    type(ndf_error) :: err
    integer(c_int64_t), allocatable :: id(:)
    character(:), allocatable :: sym(:)
    call save_table
    call ok(ndf_open(trim(folder) // "/t.bcolz", f, mode="r+", err=err), err, "open table")
    call ok(ndf_put(f, "id", [-1_8, -2_8], start=[10], err=err), err, "put")
    call ok(ndf_close(f, err), err, "close table")
    call ok(ndf_open(trim(folder) // "/t.bcolz", f, err=err), err, "open table")
    call ok(ndf_get(f, "id", id, err=err), err, "get id")
    call check(size(id) == 1000 .and. all(id(10:11) == [-1, -2]) .and. id(12) == 12 .and. id(9) == 9, "id")
    call ok(ndf_get(f, "sym", sym, err=err), err, "get sym")
    call check(size(sym) == 1000 .and. len(sym) == 5 .and. sym(1) == "AB" .and. sym(1000) == "ABCDE", "sym")
    call ok(ndf_close(f, err), err, "close table")
  end subroutine

  ! The table is saved by C's functions: rows need all columns at once.
  subroutine save_table
    type(ndf_item), target :: items(2)
    type(ndf_error) :: err
    integer(c_int64_t), target :: id(1000), n(1)
    character(5, c_char), target :: sym(1000)
    character(1, c_char), target :: dtype1(3) = ["i", "8", c_null_char], dtype2(3) = ["S", "5", c_null_char]
    character(1, c_char), target :: name1(3) = ["i", "d", c_null_char], name2(4) = ["s", "y", "m", c_null_char]
    integer :: i
    id = [(i, i=1, 1000)]
    sym = "AB" // repeat(c_null_char, 3)
    sym(1000) = "ABCDE"
    n = 1000
    items(1)%ndim = 1
    items(1)%name = c_loc(name1)
    items(1)%dtype = c_loc(dtype1)
    items(1)%shape = c_loc(n)
    items(1)%data = c_loc(id)
    items(2) = items(1)
    items(2)%name = c_loc(name2)
    items(2)%dtype = c_loc(dtype2)
    items(2)%data = c_loc(sym)
    call ok(ndf_save(trim(folder) // "/t.bcolz" // c_null_char, items=c_loc(items), n=2_c_int64_t, options=c_null_ptr, err=err), &
      err, "save table")
  end subroutine

  ! A zarr array in chunks: created, a slice of three axes written and read.
  subroutine slices
    integer(c_int64_t) :: f
    type(ndf_error) :: err
    real(c_float), allocatable :: x(:, :, :), y(:, :, :)
    real(c_double), allocatable :: wide(:, :, :)
    integer :: i
    allocate (x(7, 5, 3))
    x = reshape([(real(i), i=1, 105)], [7, 5, 3])
    call ok(ndf_create(trim(folder) // "/x.zarr", f, format="zarr3", err=err), err, "create zarr")
    call ok(ndf_add(f, "", x, chunks=[4, 2, 2], codecs='["shuffle", {"name": "zstd", "level": 3}]', err=err), err, "add zarr")
    call ok(ndf_close(f, err), err, "close zarr")
    call ok(ndf_open(trim(folder) // "/x.zarr", f, mode="r+", err=err), err, "open zarr")
    call ok(ndf_put(f, "", -x(2:6:2, 1:2, 2:2), start=[2, 1, 2], step=[2, 1, 1], err=err), err, "put zarr")
    x(2:6:2, 1:2, 2:2) = -x(2:6:2, 1:2, 2:2)
    call ok(ndf_get(f, "", y, start=[2, 1, 2], count=[6, 5, 1], err=err), err, "get zarr")
    call check(all(y == x(2:7, :, 2:2)), "slice of zarr")
    call ok(ndf_get(f, "", wide, err=err), err, "get wide")
    call check(all(wide == x), "zarr as real(8)")
    call ok(ndf_get(f, "", y, start=[8, 1, 1], err=err), err, "an empty box")
    call check(size(y) == 0, "an empty box is empty")
    call ok(ndf_close(f, err), err, "close zarr")
  end subroutine

  subroutine errors
    integer(c_int64_t) :: f
    type(ndf_error) :: err
    real(c_double), allocatable :: x(:)
    call check(ndf_open(trim(folder) // "/none.ds", f, err=err) == NDF_ERR_NOT_FOUND, "no such file")
    call check(index(ndf_message(err), "none.ds") > 0, "the message names the file: " // ndf_message(err))
    call check(f == 0, "no handle")
    call check(ndf_open(trim(folder) // "/a.ds", f, mode="w", err=err) == NDF_ERR_ARGUMENT, "mode w")
    call ok(ndf_open(trim(folder) // "/a.ds", f, err=err), err, "open")
    call check(ndf_get(f, "nothing", x, err=err) == NDF_ERR_NAME, "no such array")
    call check(ndf_get(f, "r", x, start=[1, 1]) == NDF_ERR_SHAPE, "start of another rank")
    call check(ndf_get(f, "r", x, start=[4], count=[3], err=err) == NDF_ERR_BOUNDS, "a box that reaches outside")
    call check(ndf_get(f, "r", x, step=[0]) == NDF_ERR_ARGUMENT, "a step of 0")
    call check(ndf_get(f, "r", x, start=["1"]) == NDF_ERR_ARGUMENT, "a start that is no number")
    call ok(ndf_close(f, err), err, "close")
    call check(ndf_get(f, "r", x) == NDF_ERR_HANDLE, "a closed file")
  end subroutine

  ! C's functions beside the others: no handle is left.
  subroutine lowlevel
    integer(c_int64_t) :: n
    type(ndf_error) :: err
    character(1, c_char) :: buf(32)
    integer(c_int64_t) :: len
    len = size(buf)
    call ok(ndf_detect(trim(folder) // "/a.ds" // c_null_char, buf, len, err), err, "detect")
    call check(len == 2 .and. buf(1) == "d" .and. buf(2) == "s", "format of a.ds")
    call ok(ndf_handle_count(n, err), err, "handles")
    call check(n == 0, "handles are left")
  end subroutine
end program
