/* Numbers out of Python's tuples and lists, and into them. */

#ifndef PTX_NUMBERS_H
#define PTX_NUMBERS_H

#include "../../syntax/native/slots.h"

/* The number in an object, which indexes something with `size` items; -1 with an exception if it cannot. */
static inline Py_ssize_t index_in(PyObject *object, Py_ssize_t size) {
  if (object == NULL) return -1;
  Py_ssize_t found = PyLong_AsSsize_t(object);
  if (found >= 0 && found < size) return found;
  if (!PyErr_Occurred()) PyErr_Format(PyExc_IndexError, "%zd is not below %zd", found, size);
  return -1;
}

/* Whether `first` and `end` delimit instructions of all of these lists; else with an exception. */
static int are_lists_with(PyObject *const *lists, int count, Py_ssize_t first, Py_ssize_t end) {
  for (int n = 0; n < count; n++) {
    if (!PyList_Check(lists[n])) {
      PyErr_SetString(PyExc_TypeError, "a list is needed");
      return 0;
    }
    if (first < 0 || first > end || end > PyList_Size(lists[n])) {
      PyErr_SetString(PyExc_IndexError, "the list has no such instructions");
      return 0;
    }
  }
  return 1;
}

/* A tuple of `size` objects. */
static PyObject *tuple_of(PyObject *const *objects, Py_ssize_t size) {
  if (!size) return NO_ITEMS;
  PyObject *found = PyTuple_New(size);
  for (Py_ssize_t n = 0; found != NULL && n < size; n++) PyTuple_SetItem(found, n, new_reference(objects[n]));
  return found;
}

/* A tuple of `size` numbers. */
static PyObject *tuple_of_numbers(const Py_ssize_t *numbers, Py_ssize_t size) {
  if (!size) return NO_ITEMS;
  PyObject *found = PyTuple_New(size);
  for (Py_ssize_t n = 0; found != NULL && n < size; n++) {
    PyObject *number = PyLong_FromSsize_t(numbers[n]);
    if (number == NULL) Py_CLEAR(found);
    else PyTuple_SetItem(found, n, number);
  }
  return found;
}

/* A list of `size` numbers. */
static PyObject *list_of_numbers(const Py_ssize_t *numbers, Py_ssize_t size) {
  PyObject *found = PyList_New(size);
  for (Py_ssize_t n = 0; found != NULL && n < size; n++) {
    PyObject *number = PyLong_FromSsize_t(numbers[n]);
    if (number == NULL) Py_CLEAR(found);
    else PyList_SetItem(found, n, number);
  }
  return found;
}

/* `size` zeroed items, in memory that `PyMem_Free` frees; NULL with an exception. */
static void *zeroed(Py_ssize_t size, size_t each) {
  void *found = PyMem_Calloc(size ? size : 1, each);
  if (found == NULL) PyErr_NoMemory();
  return found;
}

/* Calls a method of an integer or of its class that converts to bytes or from them, the lowest first. It takes
 * the reference to its argument, of which NULL is one with an exception. `name` keeps the name of the method. */
static PyObject *converted(PyObject *integer, PyObject **name, const char *method, PyObject *argument) {
  static PyObject *order;
  if (order == NULL) order = PyUnicode_InternFromString("little");
  if (*name == NULL) *name = PyUnicode_InternFromString(method);
  PyObject *found = NULL;
  if (argument != NULL && order != NULL && *name != NULL)
    found = PyObject_CallMethodObjArgs(integer, *name, argument, order, NULL);
  Py_XDECREF(argument);
  return found;
}

/* Marks the numbers in a set or list; false with an exception. */
static int mark_all(PyObject *numbers, char *marks, Py_ssize_t size) {
  PyObject *all = PyObject_GetIter(numbers), *number;
  while (all != NULL && (number = PyIter_Next(all)) != NULL) {
    Py_ssize_t index = index_in(number, size);
    Py_DECREF(number);
    if (index < 0) break;
    marks[index] = 1;
  }
  Py_XDECREF(all);
  return !PyErr_Occurred();
}

#endif
