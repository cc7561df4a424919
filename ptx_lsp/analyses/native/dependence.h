/* The dependence graph of a straight-line region: `ptx_lsp/analyses/registers/scheduling/dependence.py` defines it. */

#ifndef PTX_DEPENDENCE_H
#define PTX_DEPENDENCE_H

#include "operands.h"

typedef struct {
  PyObject_HEAD
  Py_ssize_t count, *starts, *successors, *latencies; /* the edges of each instruction */
  Py_ssize_t *predecessor_counts, *critical_path;
} DependenceGraph;

static PyTypeObject *dependence_graph_type;

/* How an instruction accesses memory. */
enum { LOADS = 1, STORES, ORDERS, ENDS };

typedef struct {
  Py_ssize_t position, base, place;
} MemoryReference;

enum { SPACES = 8, NEAREST = 32 };

/* Edges in the order in which they are found, and what the instructions so far did. */
typedef struct {
  Py_ssize_t count, edge_count, capacity, *edges; /* from, to, latency */
  Py_ssize_t *cycles, flag_cycles;
  Py_ssize_t *written; /* the position that wrote a name, plus 1 */
  Py_ssize_t *last_reader, *before, *readers, reader_count; /* lists of the positions that read a name, from 1 */
  MemoryReference nearest[SPACES][2][NEAREST];
  Py_ssize_t sizes[SPACES][2];
  Py_ssize_t *since_barrier, since_count, barrier;
  Py_ssize_t end; /* the last instruction that ended a block */
} Dependences;

static int add_edge(Dependences *known, Py_ssize_t earlier, Py_ssize_t later, Py_ssize_t latency) {
  if (earlier == later) return 1;
  if (known->edge_count == known->capacity) {
    Py_ssize_t capacity = known->capacity ? 2 * known->capacity : 256;
    Py_ssize_t *edges = PyMem_Realloc(known->edges, 3 * capacity * sizeof *edges);
    if (edges == NULL) return PyErr_NoMemory() != NULL;
    known->edges = edges;
    known->capacity = capacity;
  }
  Py_ssize_t *edge = known->edges + 3 * known->edge_count++;
  edge[0] = earlier;
  edge[1] = later;
  edge[2] = latency;
  return 1;
}

static int add_true_dependence(Dependences *known, Py_ssize_t name, Py_ssize_t position, int is_flag) {
  Py_ssize_t writer = known->written[name] - 1;
  return writer < 0 || add_edge(known, writer, position, is_flag ? known->flag_cycles : known->cycles[writer]);
}

static void add_reader(Dependences *known, Py_ssize_t name, Py_ssize_t position) {
  Py_ssize_t item = ++known->reader_count;
  known->readers[item] = position;
  known->before[item] = known->last_reader[name];
  known->last_reader[name] = item;
}

static int add_write(Dependences *known, Py_ssize_t name, Py_ssize_t position) {
  for (Py_ssize_t item = known->last_reader[name]; item; item = known->before[item])
    if (!add_edge(known, known->readers[item], position, 0)) return 0;
  known->last_reader[name] = 0;
  if (known->written[name] && !add_edge(known, known->written[name] - 1, position, 1)) return 0;
  known->written[name] = position + 1;
  return 1;
}

static int add_operands(Dependences *known, const Operands *operands, Py_ssize_t position) {
  const Rows *reads[] = {&operands->uses, &operands->kept, &operands->flags_read};
  const Rows *writes[] = {&operands->defs, &operands->flags_written};
  for (int list = 0; list < 3; list++)
    for (Py_ssize_t at = reads[list]->starts[position]; at < reads[list]->starts[position + 1]; at++) {
      Py_ssize_t name = reads[list]->items[at];
      if (!add_true_dependence(known, name, position, list == 2)) return 0;
      if (list != 1) add_reader(known, name, position);
    }
  for (int list = 0; list < 2; list++)
    for (Py_ssize_t at = writes[list]->starts[position]; at < writes[list]->starts[position + 1]; at++)
      if (!add_write(known, writes[list]->items[at], position)) return 0;
  return 1;
}

static int add_barrier(Dependences *known, Py_ssize_t position) {
  for (Py_ssize_t n = 0; n < known->since_count; n++)
    if (!add_edge(known, known->since_barrier[n], position, 0)) return 0;
  if (known->barrier >= 0 && !add_edge(known, known->barrier, position, 0)) return 0;
  known->barrier = position;
  known->since_count = 0;
  memset(known->sizes, 0, sizeof known->sizes);
  return 1;
}

/* An instruction that nothing is moved across. */
static int add_end(Dependences *known, Py_ssize_t position) {
  for (Py_ssize_t n = known->end < 0 ? 0 : known->end; n < position; n++)
    if (!add_edge(known, n, position, 0)) return 0;
  known->end = position;
  return add_barrier(known, position);
}

static int add_access(Dependences *known, const MemoryReference *access, int how, Py_ssize_t space) {
  if (known->barrier >= 0 && !add_edge(known, known->barrier, access->position, 0)) return 0;
  known->since_barrier[known->since_count++] = access->position;
  for (int kind = how == LOADS; kind < 2; kind++) { /* loads, then stores */
    Py_ssize_t size = known->sizes[space][kind], first = size > NEAREST ? size - NEAREST : 0;
    for (Py_ssize_t n = first; n < size; n++) {
      const MemoryReference *other = &known->nearest[space][kind][n % NEAREST];
      if (other->base == access->base && access->base && other->place != access->place) continue;
      if (!add_edge(known, other->position, access->position, 0)) return 0;
    }
  }
  Py_ssize_t *size = &known->sizes[space][how != LOADS];
  known->nearest[space][how != LOADS][*size % NEAREST] = *access;
  ++*size;
  return 1;
}

/* The access of one instruction: None, or how, in which space, from which base and to which place. */
static int add_memory(Dependences *known, PyObject *given, Py_ssize_t position) {
  MemoryReference access = {position, 0, 0};
  Py_ssize_t how, space;
  if (given == NULL) return 0;
  if (known->end >= 0 && !add_edge(known, known->end, position, 0)) return 0;
  if (given == Py_None) return 1;
  if (!PyArg_ParseTuple(given, "nnnn", &how, &space, &access.base, &access.place)) return 0;
  if (how == ORDERS) return add_barrier(known, position);
  if (how == ENDS) return add_end(known, position);
  if ((how == LOADS || how == STORES) && space >= 0 && space < SPACES)
    return add_access(known, &access, (int)how, space);
  PyErr_SetString(PyExc_ValueError, "there is no such access");
  return 0;
}

static void free_dependences(Dependences *known) {
  Py_ssize_t *memory[] = {known->edges, known->cycles, known->written, known->last_reader, known->before,
                          known->readers, known->since_barrier};
  for (size_t n = 0; n < sizeof memory / sizeof *memory; n++) PyMem_Free(memory[n]);
  PyMem_Free(known);
}

/* What is known before the first instruction; NULL with an exception. */
static Dependences *new_dependences(const Operands *operands) {
  Dependences *known = zeroed(1, sizeof *known);
  if (known == NULL) return NULL;
  Py_ssize_t count = operands->count;
  Py_ssize_t reads = operands->uses.starts[count] + operands->flags_read.starts[count] + 1;
  known->count = count;
  known->barrier = known->end = -1;
  known->cycles = zeroed(count, sizeof *known->cycles);
  known->written = zeroed(operands->names, sizeof *known->written);
  known->last_reader = zeroed(operands->names, sizeof *known->last_reader);
  known->before = zeroed(reads, sizeof *known->before);
  known->readers = zeroed(reads, sizeof *known->readers);
  known->since_barrier = zeroed(count, sizeof *known->since_barrier);
  if (!PyErr_Occurred()) return known;
  free_dependences(known);
  return NULL;
}

/* The last instruction waits for all that nothing else waits for. */
static int add_terminator(Dependences *known) {
  unsigned char *is_awaited = zeroed(known->count, 1);
  if (is_awaited == NULL) return 0;
  for (Py_ssize_t n = 0; n < known->edge_count; n++) is_awaited[known->edges[3 * n]] = 1;
  int failed = 0;
  for (Py_ssize_t n = 0; n < known->count - 1 && !failed; n++)
    failed = !is_awaited[n] && !add_edge(known, n, known->count - 1, 0);
  PyMem_Free(is_awaited);
  return !failed;
}

static PyObject *graph_of(const Dependences *known) {
  DependenceGraph *found = (DependenceGraph *)PyType_GenericAlloc(dependence_graph_type, 0);
  if (found == NULL) return NULL;
  Py_ssize_t count = found->count = known->count;
  found->starts = zeroed(count + 2, sizeof *found->starts);
  found->successors = zeroed(known->edge_count, sizeof *found->successors);
  found->latencies = zeroed(known->edge_count, sizeof *found->latencies);
  found->predecessor_counts = zeroed(count, sizeof *found->predecessor_counts);
  found->critical_path = zeroed(count, sizeof *found->critical_path);
  if (PyErr_Occurred()) {
    Py_DECREF(found);
    return NULL;
  }
  for (Py_ssize_t n = 0; n < known->edge_count; n++) found->starts[known->edges[3 * n] + 2]++;
  for (Py_ssize_t n = 0; n < count; n++) found->starts[n + 2] += found->starts[n + 1];
  for (Py_ssize_t n = 0; n < known->edge_count; n++) {
    const Py_ssize_t *edge = known->edges + 3 * n;
    Py_ssize_t at = found->starts[edge[0] + 1]++;
    found->successors[at] = edge[1];
    found->latencies[at] = edge[2];
    found->predecessor_counts[edge[1]]++;
  }
  for (Py_ssize_t n = count - 1; n >= 0; n--) {
    Py_ssize_t longest = known->cycles[n];
    for (Py_ssize_t at = found->starts[n]; at < found->starts[n + 1]; at++) {
      Py_ssize_t path = found->latencies[at] + found->critical_path[found->successors[at]];
      if (path > longest) longest = path;
    }
    found->critical_path[n] = longest;
  }
  return (PyObject *)found;
}

static PyObject *dependence_graph_new(PyTypeObject *Py_UNUSED(type), PyObject *arguments, PyObject *Py_UNUSED(named)) {
  PyObject *given, *cycles, *accesses, *found = NULL;
  Py_ssize_t flag_cycles;
  int is_ended;
  if (!PyArg_ParseTuple(arguments, "O!O!nO!p", operands_type, &given, &PyList_Type, &cycles, &flag_cycles, &PyList_Type,
                        &accesses, &is_ended))
    return NULL;
  const Operands *operands = (Operands *)given;
  PyObject *lists[] = {cycles, accesses};
  if (!are_lists_with(lists, 2, 0, operands->count)) return NULL;
  Dependences *known = new_dependences(operands);
  if (known == NULL) return NULL;
  known->flag_cycles = flag_cycles;
  for (Py_ssize_t n = 0; n < operands->count; n++)
    known->cycles[n] = PyLong_AsSsize_t(PyList_GetItem(cycles, n));
  int failed = PyErr_Occurred() != NULL;
  for (Py_ssize_t n = 0; n < operands->count && !failed; n++)
    failed = !add_operands(known, operands, n) || !add_memory(known, PyList_GetItem(accesses, n), n);
  if (!failed && (!is_ended || !operands->count || add_terminator(known))) found = graph_of(known);
  free_dependences(known);
  return found;
}

/* The dependents of each instruction, each with the minimum number of cycles. */
static PyObject *dependence_graph_edges(PyObject *self, void *Py_UNUSED(closure)) {
  const DependenceGraph *graph = (DependenceGraph *)self;
  PyObject *found = PyTuple_New(graph->count);
  for (Py_ssize_t n = 0; n < graph->count && found != NULL; n++) {
    PyObject *own = PyTuple_New(graph->starts[n + 1] - graph->starts[n]);
    for (Py_ssize_t at = graph->starts[n]; at < graph->starts[n + 1] && own != NULL; at++) {
      PyObject *edge = Py_BuildValue("nn", graph->successors[at], graph->latencies[at]);
      if (edge == NULL) Py_CLEAR(own);
      else PyTuple_SetItem(own, at - graph->starts[n], edge);
    }
    if (own == NULL) Py_CLEAR(found);
    else PyTuple_SetItem(found, n, own);
  }
  return found;
}

static PyObject *dependence_graph_critical_path(PyObject *self, void *Py_UNUSED(closure)) {
  return tuple_of_numbers(((DependenceGraph *)self)->critical_path, ((DependenceGraph *)self)->count);
}

static void dependence_graph_dealloc(PyObject *self) {
  DependenceGraph *graph = (DependenceGraph *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_ssize_t *memory[] = {graph->starts, graph->successors, graph->latencies, graph->predecessor_counts,
                          graph->critical_path};
  for (size_t n = 0; n < sizeof memory / sizeof *memory; n++) PyMem_Free(memory[n]);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

#endif
