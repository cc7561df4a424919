/* The module `ptx_lsp.analyses._flow`, see `_flow.pyi`: the inner loops of the analyses over control flow, data flow and
 * registers. The modules in Python that call them define what they compute. */

#include "bit_sets.h"
#include "block_graph.h"
#include "block_summary.h"
#include "definitions.h"
#include "dominance.h"
#include "gen_kill.h"
#include "hoisting.h"
#include "loops.h"
#include "phis.h"
#include "regions.h"
#include "renaming.h"
#include "sharing.h"
#include "trees.h"
#include "uniform.h"
#include "value_readers.h"
#include "values.h"

static PyMethodDef functions[] = {
    {"block_summary", block_summary, METH_VARARGS, NULL},
    {"crossing_registers", crossing_registers, METH_VARARGS, NULL},
    {"placed_phis", placed_phis, METH_VARARGS, NULL},
    {"rename_values", rename_values, METH_VARARGS, NULL},
    {"defining_instructions", defining_instructions, METH_VARARGS, NULL},
    {"evaluate_levels", (PyCFunction)(void (*)(void))evaluate_levels, METH_FASTCALL, NULL},
    {"reverse_postorder", reverse_postorder, METH_VARARGS, NULL},
    {"immediate_dominators", immediate_dominators, METH_VARARGS, NULL},
    {"immediate_postdominators", immediate_postdominators, METH_VARARGS, NULL},
    {"dominance_frontiers", dominance_frontiers, METH_VARARGS, NULL},
    {"control_dependences", control_dependences, METH_VARARGS, NULL},
    {"natural_loops", natural_loops, METH_VARARGS, NULL},
    {"subtrees", subtrees, METH_O, NULL},
    {"region_edges", region_edges, METH_VARARGS, NULL},
    {"machine_blocks", machine_blocks, METH_VARARGS, NULL},
    {"block_registers", block_registers, METH_VARARGS, NULL},
    {"bit_sets", bit_sets, METH_VARARGS, NULL},
    {"bit_members", bit_members, METH_VARARGS, NULL},
    {"definitions", definitions, METH_VARARGS, NULL},
    {"live_at_starts", live_at_starts, METH_VARARGS, NULL},
    {"registers_holding", registers_holding, METH_VARARGS, NULL},
    {"share_registers", share_registers, METH_VARARGS, NULL},
    {"sum_of_leaves", sum_of_leaves, METH_VARARGS, NULL},
    {"uniform_values", uniform_values, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_flow", NULL, -1, functions, NULL, NULL, NULL, NULL};

/* Creates a class and adds it to the module; NULL with an exception. */
static PyTypeObject *added_type(PyObject *to, PyType_Spec *spec, const char *name) {
  PyObject *type = PyType_FromSpec(spec);
  if (type != NULL && PyModule_AddObjectRef(to, name, type) < 0) Py_CLEAR(type);
  return (PyTypeObject *)type;
}

PyMODINIT_FUNC PyInit__flow(void) {
  PyObject *found = PyModule_Create(&module);
  if (found == NULL) return NULL;
  no_registers = PyFrozenSet_New(NULL);
  block_summary_type = added_type(found, &block_summary_spec, "BlockSummary");
  PyTypeObject *graph_type = added_type(found, &block_graph_spec, "BlockGraph");
  instruction_values_type = added_type(found, &instruction_values_spec, "InstructionValues");
  block_values_type = added_type(found, &block_values_spec, "BlockValues");
  machine_block_type = added_type(found, &machine_block_spec, "MachineBlock");
  operands_type = added_type(found, &operands_spec, "Operands");
  dependence_graph_type = added_type(found, &dependence_graph_spec, "DependenceGraph");
  readers_type = added_type(found, &readers_spec, "Readers");
  PyTypeObject *value_readers_type = added_type(found, &value_readers_spec, "ValueReaders");
  if (is_ready() && machine_block_type != NULL && operands_type != NULL && dependence_graph_type != NULL && no_registers != NULL && block_summary_type != NULL && block_values_type != NULL && instruction_values_type != NULL)
    without_values = new_values(NO_ITEMS, NO_ITEMS, NO_ITEMS, ABSENT, ABSENT, ABSENT);
  if (without_values == NULL || graph_type == NULL || readers_type == NULL || value_readers_type == NULL) Py_CLEAR(found);
  Py_XDECREF((PyObject *)graph_type);
  Py_XDECREF((PyObject *)value_readers_type);
  return found;
}
