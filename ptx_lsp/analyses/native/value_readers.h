/* The class `ValueReaders`: where values are read outside the block that defines them (`_flow.pyi`). */

#ifndef PTX_VALUE_READERS_H
#define PTX_VALUE_READERS_H

#include "block_values.h"

/* The readers of value `v` are from `starts[v]` up to `starts[v + 1]`: blocks, or for phis also their values. */
typedef struct {
  Py_ssize_t *starts, *blocks, *phis;
} ReaderRows;

typedef struct {
  PyObject_HEAD
  Py_ssize_t limit, size; /* of values; the number of blocks */
  ReaderRows entered, joined;
  PyObject *blocks, *phis_of;
} ValueReaders;

static void free_readers(ReaderRows *readers) {
  PyMem_Free(readers->starts);
  PyMem_Free(readers->blocks);
  PyMem_Free(readers->phis);
}

/* Counts the readers of some values, or adds a reader of each; false with an exception. */
static int add_readers(
    const ValueReaders *r, ReaderRows *to, PyObject *values, int is_counting, Py_ssize_t block, Py_ssize_t phi) {
  Py_ssize_t size = PyTuple_Size(values);
  if (size < 0) return 0;
  for (Py_ssize_t n = 0; n < size; n++) {
    Py_ssize_t value = PyLong_AsSsize_t(PyTuple_GetItem(values, n));
    if (value < 0 && PyErr_Occurred()) return 0;
    if (value < 0) continue; /* an instruction that nothing reaches */
    if (value >= r->limit) {
      PyErr_SetString(PyExc_IndexError, "there is no such value");
      return 0;
    }
    Py_ssize_t place = to->starts[value + 1]++;
    if (is_counting) continue;
    to->blocks[place] = block;
    if (to->phis != NULL) to->phis[place] = phi;
  }
  return 1;
}

/* Goes over all that reads a value, in the order of the blocks. */
static int go_over(ValueReaders *r, PyObject *order, int is_counting) {
  for (Py_ssize_t n = 0; n < PyTuple_Size(order); n++) {
    Py_ssize_t block = index_in(PyTuple_GetItem(order, n), r->size);
    PyObject *values = block < 0 ? NULL : PyList_GetItem(r->blocks, block);
    PyObject *phis = block < 0 ? NULL : PyList_GetItem(r->phis_of, block);
    if (values == NULL || phis == NULL) return 0;
    if (Py_TYPE(values) != block_values_type) {
      PyErr_SetString(PyExc_TypeError, "each block has values");
      return 0;
    }
    if (!add_readers(r, &r->entered, ((BlockValues *)values)->inputs, is_counting, block, 0)) return 0;
    for (Py_ssize_t k = 0; k < PyTuple_Size(phis); k++) {
      PyObject *phi = PyTuple_GetItem(phis, k); /* value, register, block, inputs */
      Py_ssize_t value = index_in(PyTuple_GetItem(phi, 0), r->limit);
      PyObject *inputs = value < 0 ? NULL : PyTuple_GetItem(phi, 3);
      if (inputs == NULL || !add_readers(r, &r->joined, inputs, is_counting, block, value)) return 0;
    }
  }
  return !PyErr_Occurred();
}

/* Makes room for what was counted. The end of the row before stands for the end of each row, until it is filled. */
static int make_rows(ReaderRows *readers, Py_ssize_t limit, int has_phis) {
  for (Py_ssize_t value = 0; value < limit; value++) readers->starts[value + 1] += readers->starts[value];
  Py_ssize_t count = readers->starts[limit];
  memmove(readers->starts + 1, readers->starts, limit * sizeof *readers->starts);
  readers->starts[0] = 0;
  if ((readers->blocks = zeroed(count, sizeof *readers->blocks)) == NULL) return 0;
  return !has_phis || (readers->phis = zeroed(count, sizeof *readers->phis)) != NULL;
}

static PyObject *value_readers_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"reverse_postorder", "blocks", "phis_of", "limit", NULL};
  PyObject *order, *blocks, *phis_of;
  Py_ssize_t limit;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!O!O!n", names, &PyTuple_Type, &order, &PyList_Type, &blocks,
                                   &PyList_Type, &phis_of, &limit))
    return NULL;
  if (limit < 0 || PyList_Size(phis_of) != PyList_Size(blocks))
    return PyErr_Format(PyExc_ValueError, "each block has values and phis");
  ValueReaders *r = (ValueReaders *)PyType_GenericAlloc(type, 0);
  if (r == NULL) return NULL;
  r->limit = limit;
  r->size = PyList_Size(blocks);
  r->blocks = new_reference(blocks);
  r->phis_of = new_reference(phis_of);
  r->entered.starts = zeroed(limit + 1, sizeof *r->entered.starts);
  r->joined.starts = zeroed(limit + 1, sizeof *r->joined.starts);
  if (r->entered.starts == NULL || r->joined.starts == NULL || !go_over(r, order, 1) ||
      !make_rows(&r->entered, limit, 0) || !make_rows(&r->joined, limit, 1) || !go_over(r, order, 0))
    Py_CLEAR(r);
  return (PyObject *)r;
}

/* The number of a value; -1 with an exception. */
static Py_ssize_t value_in(const ValueReaders *r, PyObject *value) { return index_in(value, r->limit); }

static PyObject *row(const Py_ssize_t *items, const ReaderRows *readers, Py_ssize_t value) {
  if (value < 0) return NULL;
  return list_of_numbers(items + readers->starts[value], readers->starts[value + 1] - readers->starts[value]);
}

static PyObject *readers_entered(PyObject *self, PyObject *value) {
  ValueReaders *r = (ValueReaders *)self;
  return row(r->entered.blocks, &r->entered, value_in(r, value));
}

static PyObject *readers_phis(PyObject *self, PyObject *value) {
  ValueReaders *r = (ValueReaders *)self;
  return row(r->joined.phis, &r->joined, value_in(r, value));
}

/* Appends a value if something outside the marked blocks reads it; false with an exception. */
static int add_escaping(const ValueReaders *r, Py_ssize_t value, const char *is_inside, PyObject *found) {
  const ReaderRows *both[] = {&r->entered, &r->joined};
  int escapes = 0;
  for (int n = 0; n < 2; n++)
    for (Py_ssize_t at = both[n]->starts[value]; at < both[n]->starts[value + 1] && !escapes; at++)
      escapes = !is_inside[both[n]->blocks[at]];
  return !escapes || appended(found, PyLong_FromSsize_t(value));
}

static int add_escaping_of(const ValueReaders *r, Py_ssize_t block, const char *is_inside, PyObject *found) {
  PyObject *phis = PyList_GetItem(r->phis_of, block);
  for (Py_ssize_t n = 0; n < PyTuple_Size(phis); n++) {
    Py_ssize_t value = value_in(r, PyTuple_GetItem(PyTuple_GetItem(phis, n), 0));
    if (value < 0 || !add_escaping(r, value, is_inside, found)) return 0;
  }
  PyObject *values = PyList_GetItem(r->blocks, block);
  const BlockValues *own = values != NULL && Py_TYPE(values) == block_values_type ? (BlockValues *)values : NULL;
  if (own == NULL) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "each block has values");
    return 0;
  }
  for (Py_ssize_t value = own->first; value < own->first + own->count && value < r->limit; value++)
    if (!add_escaping(r, value, is_inside, found)) return 0;
  return !PyErr_Occurred();
}

static PyObject *readers_escaping(PyObject *self, PyObject *blocks) {
  ValueReaders *r = (ValueReaders *)self;
  char *is_inside = zeroed(r->size, 1);
  PyObject *found = is_inside == NULL || !mark_all(blocks, is_inside, r->size) ? NULL : PyList_New(0);
  PyObject *all = found == NULL ? NULL : PyObject_GetIter(blocks), *block;
  while (all != NULL && (block = PyIter_Next(all)) != NULL) {
    int is_added = add_escaping_of(r, PyLong_AsSsize_t(block), is_inside, found);
    Py_DECREF(block);
    if (!is_added) break;
  }
  Py_XDECREF(all);
  PyMem_Free(is_inside);
  if (PyErr_Occurred()) Py_CLEAR(found);
  return found;
}

static void value_readers_dealloc(PyObject *self) {
  ValueReaders *r = (ValueReaders *)self;
  PyTypeObject *type = Py_TYPE(self);
  free_readers(&r->entered);
  free_readers(&r->joined);
  Py_XDECREF(r->blocks);
  Py_XDECREF(r->phis_of);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMethodDef value_readers_methods[] = {
    {"entered", readers_entered, METH_O, NULL},
    {"phis", readers_phis, METH_O, NULL},
    {"escaping", readers_escaping, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot value_readers_slots[] = {
    {Py_tp_doc, "Where values are read outside the block that defines them."},
    {Py_tp_new, value_readers_new},
    {Py_tp_dealloc, value_readers_dealloc},
    {Py_tp_methods, value_readers_methods},
    {0, NULL}};

static PyType_Spec value_readers_spec = {
    "ptx_lsp.analyses._flow.ValueReaders", sizeof(ValueReaders), 0, Py_TPFLAGS_DEFAULT, value_readers_slots};

#endif
