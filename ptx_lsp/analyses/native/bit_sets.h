/* Sets of numbers as the bits of an integer: `ptx_lsp/analyses/bitset.py` defines them. */

#ifndef PTX_BIT_SETS_H
#define PTX_BIT_SETS_H

#include "numbers.h"

/* The bits of one set, as bytes. */
typedef struct {
  unsigned char *bytes;
  Py_ssize_t size, used;
} Bits;

/* Adds the bit of a number, if it has one; false with an exception. */
static int add_bit(Bits *bits, PyObject *places, PyObject *number) {
  PyObject *known = PyDict_GetItemWithError(places, number);
  if (known == NULL) return !PyErr_Occurred();
  Py_ssize_t place = index_in(known, 8 * bits->size);
  if (place < 0) return 0;
  bits->bytes[place / 8] |= (unsigned char)(1 << place % 8);
  if (place / 8 >= bits->used) bits->used = place / 8 + 1;
  return 1;
}

/* The integer with these bits, which are then cleared. */
static PyObject *integer_of(Bits *bits) {
  PyObject *found;
  if (bits->used <= 8) {
    unsigned long long word = 0;
    for (Py_ssize_t n = bits->used; n-- > 0;) word = word << 8 | bits->bytes[n];
    found = PyLong_FromUnsignedLongLong(word);
  } else {
    static PyObject *name;
    PyObject *bytes = PyBytes_FromStringAndSize((char *)bits->bytes, bits->used);
    found = converted((PyObject *)&PyLong_Type, &name, "from_bytes", bytes);
  }
  memset(bits->bytes, 0, bits->used);
  bits->used = 0;
  return found;
}

static PyObject *bit_set_of(Bits *bits, PyObject *places, PyObject *numbers) {
  if (PyTuple_Check(numbers)) {
    Py_ssize_t size = PyTuple_Size(numbers);
    for (Py_ssize_t n = 0; n < size; n++)
      if (!add_bit(bits, places, PyTuple_GetItem(numbers, n))) return NULL;
    return integer_of(bits);
  }
  PyObject *all = PyObject_GetIter(numbers), *number;
  if (all == NULL) return NULL;
  while ((number = PyIter_Next(all)) != NULL) {
    int is_added = add_bit(bits, places, number);
    Py_DECREF(number);
    if (!is_added) break;
  }
  Py_DECREF(all);
  return PyErr_Occurred() ? NULL : integer_of(bits);
}

static PyObject *bit_sets(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *sets, *places;
  if (!PyArg_ParseTuple(arguments, "O!O!", &PyList_Type, &sets, &PyDict_Type, &places)) return NULL;
  Bits bits = {.size = PyDict_Size(places) / 8 + 8};
  Py_ssize_t count = PyList_Size(sets);
  bits.bytes = zeroed(bits.size, 1);
  PyObject *found = bits.bytes == NULL ? NULL : PyList_New(count);
  for (Py_ssize_t n = 0; n < count && found != NULL; n++) {
    PyObject *numbers = PyList_GetItem(sets, n), *one = NULL;
    if (numbers != NULL) {
      Py_INCREF(numbers); /* to go over it may run code in Python */
      one = bit_set_of(&bits, places, numbers);
      Py_DECREF(numbers);
    }
    if (one == NULL) Py_CLEAR(found);
    else PyList_SetItem(found, n, one);
  }
  PyMem_Free(bits.bytes);
  return found;
}

static PyObject *bit_members(PyObject *Py_UNUSED(module), PyObject *arguments) {
  const unsigned char *bytes;
  PyObject *numbers;
  Py_ssize_t size, count = 0;
  if (!PyArg_ParseTuple(arguments, "y#O!", &bytes, &size, &PyList_Type, &numbers)) return NULL;
  for (Py_ssize_t n = 0; n < size; n++)
    for (unsigned byte = bytes[n]; byte; byte &= byte - 1) count++;
  PyObject *found = PyTuple_New(count), *set;
  count = 0;
  for (Py_ssize_t n = 0; n < size && found != NULL; n++)
    for (int bit = 0; bytes[n] >> bit && found != NULL; bit++) {
      if (!(bytes[n] >> bit & 1)) continue;
      PyObject *number = PyList_GetItem(numbers, 8 * n + bit);
      if (number == NULL) Py_CLEAR(found);
      else PyTuple_SetItem(found, count++, new_reference(number));
    }
  if (found == NULL) return NULL;
  set = PyFrozenSet_New(found);
  Py_DECREF(found);
  return set;
}

#endif
