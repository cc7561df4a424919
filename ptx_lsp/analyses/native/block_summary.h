/* The summary of a basic block: `ptx_lsp/analyses/dataflow/block_summary.py` defines it. */

#ifndef PTX_BLOCK_SUMMARY_H
#define PTX_BLOCK_SUMMARY_H

#include "kinds.h"

typedef struct {
  PyObject_HEAD
  PyObject *exposed, *entry_registers, *defined, *killed, *partially_defined, *dead, *undecided;
} BlockSummary;

static PyTypeObject *block_summary_type;
static PyObject *no_registers; /* frozenset() */

/* What is known of a register at one point of the walk from the last instruction to the first. */
enum { UNKNOWN, READ, WRITTEN };
enum { PARTIAL = 1, COMPLETE };

typedef struct {
  uint32_t walk; /* the walk that this belongs to */
  unsigned char next;  /* whether it is next read or completely written */
  unsigned char kept;  /* whether it is next partially written; COMPLETE if it is not, but was kept track of */
  unsigned char is_killed, is_partial, is_defined;
} RegisterState;

/* The states of all registers, and in which order they were met. They are valid for one walk. */
typedef struct {
  RegisterState *states;
  PyObject **met, **kept, **killed, **partial, **defined;
  Py_ssize_t capacity, met_count, kept_count, killed_count, partial_count, defined_count;
  uint32_t walk;
} Walk;

static Walk *spare_walk; /* what no thread uses: a collection of cycles may let others run */

static void free_walk(Walk *walk) {
  PyMem_Free(walk->states);
  PyMem_Free(walk->met);
  PyMem_Free(walk->kept);
  PyMem_Free(walk->killed);
  PyMem_Free(walk->partial);
  PyMem_Free(walk->defined);
  PyMem_Free(walk);
}

static int grow_walk(Walk *walk, Py_ssize_t register_) {
  Py_ssize_t capacity = walk->capacity ? walk->capacity : 256;
  while (capacity <= register_) {
    if (capacity > PY_SSIZE_T_MAX / 2 / (Py_ssize_t)sizeof(RegisterState)) return PyErr_NoMemory() != NULL;
    capacity *= 2;
  }
  RegisterState *states = PyMem_Realloc(walk->states, capacity * sizeof *states);
  if (states == NULL) return PyErr_NoMemory() != NULL;
  memset(states + walk->capacity, 0, (capacity - walk->capacity) * sizeof *states);
  walk->states = states;
  PyObject ***lists[] = {&walk->met, &walk->kept, &walk->killed, &walk->partial, &walk->defined};
  for (size_t n = 0; n < sizeof lists / sizeof *lists; n++) {
    PyObject **list = PyMem_Realloc(*lists[n], capacity * sizeof *list);
    if (list == NULL) return PyErr_NoMemory() != NULL;
    *lists[n] = list;
  }
  walk->capacity = capacity;
  return 1;
}

/* A walk on which nothing is known yet; NULL with an exception. */
static Walk *begin_walk(void) {
  Walk *walk = spare_walk != NULL ? spare_walk : zeroed(1, sizeof *walk);
  spare_walk = NULL;
  if (walk == NULL) return NULL;
  if (!walk->capacity && !grow_walk(walk, 0)) {
    free_walk(walk);
    return NULL;
  }
  if (++walk->walk == 0) {
    memset(walk->states, 0, walk->capacity * sizeof *walk->states);
    walk->walk = 1;
  }
  walk->met_count = walk->kept_count = walk->killed_count = walk->partial_count = walk->defined_count = 0;
  return walk;
}

static void end_walk(Walk *walk) {
  if (spare_walk != NULL) free_walk(walk);
  else spare_walk = walk;
}

/* The state of a register; NULL with an exception. */
static inline RegisterState *state_of(Walk *walk, PyObject *name) {
  Py_ssize_t register_ = name == NULL ? -1 : PyLong_AsSsize_t(name);
  if (register_ < 0) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a register is negative");
    return NULL;
  }
  if (register_ >= walk->capacity && !grow_walk(walk, register_)) return NULL;
  RegisterState *state = walk->states + register_;
  if (state->walk != walk->walk) {
    memset(state, 0, sizeof *state);
    state->walk = walk->walk;
  }
  return state;
}

static inline int mark_read(Walk *walk, PyObject *name) {
  RegisterState *state = state_of(walk, name);
  if (state == NULL) return 0;
  if (state->next == UNKNOWN) walk->met[walk->met_count++] = name;
  state->next = READ;
  return 1;
}

/* Notes a definition of a register that keeps part of its value, or of one that does not. */
static int mark_written(Walk *walk, PyObject *name, int is_partial) {
  RegisterState *state = state_of(walk, name);
  if (state == NULL) return 0;
  if (is_partial) {
    if (state->kept == UNKNOWN) walk->kept[walk->kept_count++] = name;
    state->kept = PARTIAL;
    if (!state->is_partial) walk->partial[walk->partial_count++] = name;
    state->is_partial = 1;
    return 1;
  }
  if (state->next == UNKNOWN) walk->met[walk->met_count++] = name;
  state->next = WRITTEN;
  if (!state->is_killed) walk->killed[walk->killed_count++] = name;
  state->is_killed = 1;
  if (walk->kept_count) {
    if (state->kept == UNKNOWN) walk->kept[walk->kept_count++] = name;
    state->kept = COMPLETE;
  }
  return 1;
}

/* Adds an instruction without side effects to the dead ones, or to those that are dead if none of the registers
 * that they leave behind is live; false with an exception. */
static int judge_dead(Walk *walk, PyObject *defs, Py_ssize_t index, PyObject *dead, PyObject *undecided) {
  Py_ssize_t size = PyTuple_Size(defs), outgoing = 0;
  PyObject *some[8], **left = size <= 8 ? some : zeroed(size, sizeof *left);
  if (left == NULL) return 0;
  int is_read = 0, failed = 0;
  for (Py_ssize_t n = 0; n < size && !is_read && !failed; n++) {
    PyObject *name = PyTuple_GetItem(defs, n);
    RegisterState *state = state_of(walk, name);
    if (state == NULL) failed = 1;
    else if (state->next == UNKNOWN) left[outgoing++] = name;
    else is_read = state->next == READ;
  }
  if (!failed && !is_read) {
    PyObject *one;
    if (outgoing) one = Py_BuildValue("nN", index, tuple_of(left, outgoing));
    else one = PyLong_FromSsize_t(index);
    failed = one == NULL || PyList_Append(outgoing ? undecided : dead, one) < 0;
    Py_XDECREF(one);
  }
  if (left != some) PyMem_Free(left);
  return !failed;
}

static int contains(PyObject *tuple, PyObject *name) {
  Py_ssize_t size = PyTuple_Size(tuple);
  if (!size) return 0;
  Py_ssize_t wanted = PyLong_AsSsize_t(name);
  for (Py_ssize_t n = 0; n < size; n++)
    if (PyLong_AsSsize_t(PyTuple_GetItem(tuple, n)) == wanted) return 1;
  return 0;
}

/* Takes one instruction into account: `lists` are the uses, defs, partial defs, guards and kinds of all. */
static int walk_over(
    Walk *walk, PyObject *const *lists, Py_ssize_t number, Py_ssize_t first, PyObject *dead, PyObject *undecided) {
  PyObject *uses = PyList_GetItem(lists[0], number), *defs = PyList_GetItem(lists[1], number);
  PyObject *partial_defs = PyList_GetItem(lists[2], number), *guard = PyList_GetItem(lists[3], number);
  if (!PyTuple_Check(uses) || !PyTuple_Check(defs) || !PyTuple_Check(partial_defs)) {
    PyErr_SetString(PyExc_TypeError, "the registers of an instruction are a tuple");
    return 0;
  }
  Py_ssize_t defined = PyTuple_Size(defs), used = PyTuple_Size(uses);
  if (defined) {
    PyObject *kind = PyList_GetItem(lists[4], number);
    const KindSlots *slots = kind_slots(kind);
    if (slots == NULL) return 0;
    if (flag_at(kind, slots->is_pure) && !judge_dead(walk, defs, number - first, dead, undecided)) return 0;
    for (Py_ssize_t n = 0; n < defined; n++) {
      PyObject *name = PyTuple_GetItem(defs, n);
      if (!mark_written(walk, name, contains(partial_defs, name))) return 0;
    }
  }
  for (Py_ssize_t n = 0; n < used; n++)
    if (!mark_read(walk, PyTuple_GetItem(uses, n))) return 0;
  Py_ssize_t own = PyLong_AsSsize_t(guard);
  if (own >= 0) return mark_read(walk, guard);
  return !PyErr_Occurred();
}

/* The registers in the order of their first writes. */
static int find_defined(Walk *walk, PyObject *all_defs, Py_ssize_t first, Py_ssize_t end) {
  for (Py_ssize_t number = first; number < end; number++) {
    PyObject *defs = PyList_GetItem(all_defs, number);
    Py_ssize_t size = PyTuple_Size(defs);
    for (Py_ssize_t n = 0; n < size; n++) {
      PyObject *name = PyTuple_GetItem(defs, n);
      RegisterState *state = state_of(walk, name);
      if (state == NULL) return 0;
      if (!state->is_defined) walk->defined[walk->defined_count++] = name;
      state->is_defined = 1;
    }
  }
  return 1;
}

static PyObject *set_of(PyObject *const *names, Py_ssize_t size) {
  if (!size) return new_reference(no_registers);
  PyObject *tuple = tuple_of(names, size);
  PyObject *found = tuple == NULL ? NULL : PyFrozenSet_New(tuple);
  Py_XDECREF(tuple);
  return found;
}

/* Creates the summary from the finished walk; takes the references to `dead` and `undecided`. */
static PyObject *summarized(Walk *walk, PyObject *dead, PyObject *undecided) {
  BlockSummary *found = (BlockSummary *)PyType_GenericAlloc(block_summary_type, 0);
  if (found == NULL) {
    Py_DECREF(dead);
    Py_DECREF(undecided);
    return NULL;
  }
  Py_ssize_t exposed = 0;
  for (Py_ssize_t n = 0; n < walk->met_count; n++)
    if (state_of(walk, walk->met[n])->next == READ) walk->met[exposed++] = walk->met[n];
  Py_ssize_t entering = exposed; /* and those that are only kept: none of them is exposed, so there is room */
  found->exposed = tuple_of(walk->met, exposed);
  if (walk->kept_count) {
    for (Py_ssize_t n = 0; n < walk->kept_count; n++) {
      const RegisterState *state = state_of(walk, walk->kept[n]);
      if (state->kept == PARTIAL && state->next != READ) walk->met[entering++] = walk->kept[n];
    }
  }
  if (entering == exposed && found->exposed != NULL) found->entry_registers = new_reference(found->exposed);
  else found->entry_registers = tuple_of(walk->met, entering);
  found->defined = tuple_of(walk->defined, walk->defined_count);
  found->killed = set_of(walk->killed, walk->killed_count);
  found->partially_defined = set_of(walk->partial, walk->partial_count);
  found->dead = frozen(dead);
  found->undecided = frozen(undecided);
  if (PyErr_Occurred()) Py_CLEAR(found);
  return (PyObject *)found;
}

static PyObject *block_summary(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *lists[5];
  Py_ssize_t first, end;
  if (!PyArg_ParseTuple(arguments, "OOOOOnn", &lists[0], &lists[1], &lists[2], &lists[3], &lists[4], &first, &end))
    return NULL;
  if (!are_lists_with(lists, 5, first, end)) return NULL;
  Walk *walk = begin_walk();
  PyObject *dead = PyList_New(0), *undecided = PyList_New(0), *found = NULL;
  int failed = walk == NULL || dead == NULL || undecided == NULL;
  for (Py_ssize_t number = end - 1; number >= first && !failed; number--)
    failed = !walk_over(walk, lists, number, first, dead, undecided);
  if (failed || !find_defined(walk, lists[1], first, end)) {
    Py_XDECREF(dead);
    Py_XDECREF(undecided);
  } else {
    found = summarized(walk, dead, undecided);
  }
  if (walk != NULL) end_walk(walk);
  return found;
}

static void block_summary_dealloc(PyObject *self) {
  BlockSummary *summary = (BlockSummary *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject *fields[] = {summary->exposed, summary->entry_registers, summary->defined, summary->killed,
                        summary->partially_defined, summary->dead, summary->undecided};
  for (size_t n = 0; n < sizeof fields / sizeof *fields; n++) Py_XDECREF(fields[n]);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMemberDef block_summary_members[] = {
    {"exposed", T_OBJECT_EX, offsetof(BlockSummary, exposed), READONLY, NULL},
    {"entry_registers", T_OBJECT_EX, offsetof(BlockSummary, entry_registers), READONLY, NULL},
    {"defined", T_OBJECT_EX, offsetof(BlockSummary, defined), READONLY, NULL},
    {"killed", T_OBJECT_EX, offsetof(BlockSummary, killed), READONLY, NULL},
    {"partially_defined", T_OBJECT_EX, offsetof(BlockSummary, partially_defined), READONLY, NULL},
    {"dead", T_OBJECT_EX, offsetof(BlockSummary, dead), READONLY, NULL},
    {"undecided", T_OBJECT_EX, offsetof(BlockSummary, undecided), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot block_summary_slots[] = {
    {Py_tp_doc, "The registers that a block reads and writes."},
    {Py_tp_dealloc, block_summary_dealloc},
    {Py_tp_members, block_summary_members},
    {0, NULL}};

static PyType_Spec block_summary_spec = {
    "ptx_lsp.analyses._flow.BlockSummary", sizeof(BlockSummary), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    block_summary_slots};

#endif
