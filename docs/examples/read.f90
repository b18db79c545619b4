! Reads a masked variable and its units from the ds file that "ndfile demo" writes: read demo.ds
program read_temperature
  use, intrinsic :: iso_c_binding
  use ndfile
  implicit none
  integer(c_int64_t) :: f
  type(ndf_error) :: err
  real(c_float), allocatable :: t(:, :)
  logical(c_bool), allocatable :: missing(:, :)
  character(:), allocatable :: attrs
  character(200) :: path
  integer :: i
  call get_command_argument(1, path)
  if (ndf_open(path, f, err=err) /= NDF_OK) error stop ndf_message(err)
  if (ndf_get(f, "temperature", t, missing=missing, err=err) /= NDF_OK) error stop ndf_message(err)
  if (ndf_attrs(f, attrs, "temperature", err) /= NDF_OK) error stop ndf_message(err)
  print '(2a)', "temperature(time, station), ", attrs
  do i = 1, size(t, 2)
    print '(3f8.2, a, i0, a)', t(:, i), "   (", count(missing(:, i)), " missing)"
  end do
  if (ndf_close(f, err) /= NDF_OK) error stop ndf_message(err)
end program
