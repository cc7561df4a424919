/* The class `BlockValues`: the SSA values of one block (`ptx_lsp/analyses/dataflow/ssa.py`). */

#ifndef PTX_BLOCK_VALUES_H
#define PTX_BLOCK_VALUES_H

#include "values.h"

typedef struct {
  PyObject_HEAD
  PyObject *inputs, *by_instruction, *last;
  Py_ssize_t first, count;
  char is_reached;
  uint32_t *defining; /* the instruction that defines each value; NULL as long as nobody has asked for one */
} BlockValues;

static PyTypeObject *block_values_type;

/* The values of a block; takes the references, of which NULL is one with an exception. */
static PyObject *new_block_values(
    Py_ssize_t first, Py_ssize_t count, PyObject *inputs, PyObject *by_instruction, PyObject *last, int is_reached) {
  BlockValues *found = NULL;
  if (inputs != NULL && by_instruction != NULL && last != NULL)
    found = (BlockValues *)PyType_GenericAlloc(block_values_type, 0);
  if (found == NULL) {
    Py_XDECREF(inputs);
    Py_XDECREF(by_instruction);
    Py_XDECREF(last);
    return NULL;
  }
  found->inputs = inputs;
  found->by_instruction = by_instruction;
  found->last = last;
  found->first = first;
  found->count = count;
  found->is_reached = (char)is_reached;
  return (PyObject *)found;
}

/* Finds the instruction that defines each value; false with an exception. */
static int find_defining(BlockValues *values) {
  Py_ssize_t size = PyList_Size(values->by_instruction), value = 0;
  uint32_t *found = zeroed(values->count, sizeof *found);
  if (found == NULL) return 0;
  for (Py_ssize_t number = 0; number < size; number++) {
    InstructionValues *one = values_at(values->by_instruction, number);
    if (one == NULL) {
      PyMem_Free(found);
      return 0;
    }
    Py_ssize_t own = PyTuple_Size(one->defs) + (one->carry_out >= 0);
    while (own-- > 0 && value < values->count) found[value++] = (uint32_t)number;
  }
  values->defining = found;
  return 1;
}

static PyObject *block_values_definition(PyObject *self, PyObject *value) {
  BlockValues *values = (BlockValues *)self;
  Py_ssize_t number = PyLong_AsSsize_t(value);
  if (number == -1 && PyErr_Occurred()) return NULL;
  if (number < values->first || number - values->first >= values->count)
    return PyErr_Format(PyExc_IndexError, "the block does not define %zd", number);
  if (values->defining == NULL && !find_defining(values)) return NULL;
  return PyLong_FromUnsignedLong(values->defining[number - values->first]);
}

static PyObject *block_values_new(PyTypeObject *Py_UNUSED(type), PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"first", "inputs", "by_instruction", "is_reached", NULL};
  PyObject *inputs, *by_instruction;
  Py_ssize_t first;
  int is_reached;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "nO!O!p", names, &first, &PyTuple_Type, &inputs, &PyList_Type,
                                   &by_instruction, &is_reached))
    return NULL;
  return new_block_values(first, 0, new_reference(inputs), new_reference(by_instruction), NO_ITEMS, is_reached);
}

static void block_values_dealloc(PyObject *self) {
  BlockValues *values = (BlockValues *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(values->inputs);
  Py_XDECREF(values->by_instruction);
  Py_XDECREF(values->last);
  PyMem_Free(values->defining);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMemberDef block_values_members[] = {
    {"inputs", T_OBJECT_EX, offsetof(BlockValues, inputs), READONLY, NULL},
    {"by_instruction", T_OBJECT_EX, offsetof(BlockValues, by_instruction), READONLY, NULL},
    {"last", T_OBJECT_EX, offsetof(BlockValues, last), READONLY, NULL},
    {"first", T_PYSSIZET, offsetof(BlockValues, first), READONLY, NULL},
    {"count", T_PYSSIZET, offsetof(BlockValues, count), READONLY, NULL},
    {"is_reached", T_BOOL, offsetof(BlockValues, is_reached), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyMethodDef block_values_methods[] = {
    {"definition", block_values_definition, METH_O, NULL}, {NULL, NULL, 0, NULL}};

static PyType_Slot block_values_slots[] = {
    {Py_tp_doc, "The values of the instructions of one block."},
    {Py_tp_new, block_values_new},
    {Py_tp_dealloc, block_values_dealloc},
    {Py_tp_members, block_values_members},
    {Py_tp_methods, block_values_methods},
    {0, NULL}};

static PyType_Spec block_values_spec = {
    "ptx_lsp.analyses._flow.BlockValues", sizeof(BlockValues), 0, Py_TPFLAGS_DEFAULT, block_values_slots};

#endif
