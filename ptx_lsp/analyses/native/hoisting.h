/* List scheduling from the end that hides latencies while registers are left:
 * `ptx_lsp/analyses/registers/scheduling/list_scheduling.py` (3). */

#ifndef PTX_HOISTING_H
#define PTX_HOISTING_H

#include "reordering.h"

typedef struct {
  Ordering ordering; /* its heap has the instructions that nothing waits for, by cost */
  const DependenceGraph *graph;
  Py_ssize_t *more;    /* the additional registers of each instruction */
  Py_ssize_t *behind;  /* the dependents of each instruction that are not taken */
  Py_ssize_t *latest;  /* the cycles before the end at which each may start */
  Py_ssize_t *depth;   /* the cycles before each instruction can start */
  Py_ssize_t *starts, *predecessors, *latencies;
  Heap waiting, available; /* by cycle, then as below; by depth, then the last in the text first */
  Entry *refused;
  Py_ssize_t limit, tries, now;
} Scheduling;

/* The registers that are live around an instruction if it is taken now. */
static Py_ssize_t live_around(const Scheduling *state, Py_ssize_t number) {
  const Ordering *ordering = &state->ordering;
  const Live *live = &ordering->live;
  const Rows *fresh = &ordering->fresh;
  Py_ssize_t read = count_new(live, &ordering->operands->uses, number);
  Py_ssize_t dead = count_new(live, &ordering->operands->defs, number);
  Py_ssize_t ended = count_all(live, fresh, number) - count_new(live, fresh, number);
  Py_ssize_t after = live->count + dead;
  Py_ssize_t before = live->count - ended + read;
  return with_more(after > before ? after : before, live->count - ended, state->more[number]);
}

static int make_available(Scheduling *state, Py_ssize_t number) {
  return push(&state->available, -state->depth[number], -number, number);
}

static int wait_for(Scheduling *state, Py_ssize_t number) {
  if (!offer(&state->ordering, number)) return 0;
  if (state->latest[number] <= state->now) return make_available(state, number);
  return push(&state->waiting, state->latest[number], -number, number);
}

enum { NONE_FITS = -1, FAILED = -2 };

/* The next instruction, from the end, that fits and need not wait; NONE_FITS if one has to be taken that does not. */
static Py_ssize_t choose(Scheduling *state) {
  for (;;) {
    while (state->waiting.size && state->waiting.entries[0].first <= state->now)
      if (!make_available(state, pop(&state->waiting).item)) return FAILED;
    Py_ssize_t refused = 0, chosen = NONE_FITS;
    while (state->available.size && refused < state->tries) {
      Entry one = pop(&state->available);
      if (state->ordering.is_taken[one.item]) continue;
      if (live_around(state, one.item) <= state->limit) {
        chosen = one.item;
        break;
      }
      state->refused[refused++] = one;
    }
    for (Py_ssize_t n = 0; n < refused; n++)
      if (!make_available(state, state->refused[n].item)) return FAILED;
    if (chosen != NONE_FITS || refused) return chosen;
    while (state->waiting.size && state->ordering.is_taken[state->waiting.entries[0].item]) pop(&state->waiting);
    if (!state->waiting.size) return NONE_FITS;
    state->now = state->waiting.entries[0].first;
  }
}

/* The instruction of least cost, whether or not it has to wait; FAILED with an exception. */
static Py_ssize_t cheapest(Scheduling *state) {
  Ordering *ordering = &state->ordering;
  while (ordering->ready.size) {
    Entry one = pop(&ordering->ready);
    if (ordering->is_taken[one.item]) continue;
    if (cost(ordering, one.item) == one.first) return one.item;
    if (!push_ready(ordering, one.item)) return FAILED;
  }
  PyErr_SetString(PyExc_ValueError, "the dependences have a cycle");
  return FAILED;
}

static int schedule(Scheduling *state, Py_ssize_t number) {
  if (state->now < state->latest[number]) state->now = state->latest[number];
  if (!take_last(&state->ordering, number)) return 0;
  for (Py_ssize_t at = state->starts[number]; at < state->starts[number + 1]; at++) {
    Py_ssize_t other = state->predecessors[at], start = state->now + state->latencies[at];
    if (state->latest[other] < start) state->latest[other] = start;
    if (!--state->behind[other] && !wait_for(state, other)) return 0;
  }
  state->now++;
  return 1;
}

/* Reads the graph; false with an exception. */
static int begin_scheduling(Scheduling *state) {
  const DependenceGraph *graph = state->graph;
  Py_ssize_t count = graph->count;
  state->behind = zeroed(count, sizeof *state->behind);
  state->latest = zeroed(count, sizeof *state->latest);
  state->depth = zeroed(count, sizeof *state->depth);
  state->refused = zeroed(state->tries, sizeof *state->refused);
  state->latencies = zeroed(graph->starts[count], sizeof *state->latencies);
  if (PyErr_Occurred() || !find_predecessors(graph, &state->starts, &state->predecessors, state->latencies)) return 0;
  for (Py_ssize_t n = 0; n < count; n++)
    for (Py_ssize_t at = graph->starts[n]; at < graph->starts[n + 1]; at++) {
      Py_ssize_t depth = state->depth[n] + graph->latencies[at];
      if (state->depth[graph->successors[at]] < depth) state->depth[graph->successors[at]] = depth;
    }
  for (Py_ssize_t n = 0; n < count; n++) {
    state->behind[n] = graph->starts[n + 1] - graph->starts[n];
    if (!state->behind[n] && !wait_for(state, n)) return 0;
  }
  return 1;
}

static PyObject *hoisted(PyObject *self, PyObject *arguments) {
  Scheduling state = {.now = 0};
  const Operands *operands = (Operands *)self;
  PyObject *graph, *more, *found = NULL;
  const char *is_counted;
  Py_ssize_t names;
  if (!PyArg_ParseTuple(arguments, "O!O!y#nn", dependence_graph_type, &graph, &PyList_Type, &more, &is_counted, &names,
                        &state.limit, &state.tries))
    return NULL;
  state.graph = (DependenceGraph *)graph;
  Py_ssize_t count = operands->count;
  if (state.graph->count != count || state.tries < 0 || state.tries > 1024) {
    PyErr_SetString(PyExc_ValueError, "the graph is that of another region, or there are too many tries");
    return NULL;
  }
  Py_ssize_t *order = zeroed(count, sizeof *order);
  int failed = order == NULL || (state.more = read_numbers(more, count)) == NULL ||
               !begin_ordering(&state.ordering, operands, is_counted, names) || !begin_scheduling(&state);
  for (Py_ssize_t n = 0; n < count && !failed; n++) {
    Py_ssize_t chosen = choose(&state);
    if (chosen == NONE_FITS) chosen = cheapest(&state);
    failed = chosen == FAILED || !schedule(&state, chosen);
    order[count - 1 - n] = chosen;
  }
  if (!failed) found = list_of_numbers(order, count);
  end_ordering(&state.ordering);
  Py_ssize_t *memory[] = {state.more, state.behind, state.latest, state.depth, state.starts, state.predecessors,
                          state.latencies, order};
  for (size_t n = 0; n < sizeof memory / sizeof *memory; n++) PyMem_Free(memory[n]);
  PyMem_Free(state.waiting.entries);
  PyMem_Free(state.available.entries);
  PyMem_Free(state.refused);
  return found;
}

/* -- classes -------------------------------------------------------------------------------------------- */

static PyMethodDef operands_methods[] = {
    {"unrolled", operands_unrolled, METH_VARARGS, NULL},
    {"profile", operands_profile, METH_VARARGS, NULL},
    {"min_pressure_order", min_pressure_order, METH_VARARGS, NULL},
    {"counted", operands_counted, METH_VARARGS, NULL},
    {"hoisted", hoisted, METH_VARARGS, NULL},
    {"reordered", reordered, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef operands_properties[] = {
    {"numbers", operands_numbers, NULL, NULL, NULL},
    {"used", operands_used, NULL, NULL, NULL},
    {"defined", operands_defined, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot operands_slots[] = {
    {Py_tp_doc, "The operands of the machine instructions of a straight-line region."},
    {Py_tp_new, operands_new},
    {Py_tp_dealloc, operands_dealloc},
    {Py_tp_methods, operands_methods},
    {Py_tp_getset, operands_properties},
    {0, NULL}};

static PyType_Spec operands_spec = {
    "ptx_lsp.analyses._flow.Operands", sizeof(Operands), 0, Py_TPFLAGS_DEFAULT, operands_slots};

static PyGetSetDef dependence_graph_properties[] = {
    {"edges", dependence_graph_edges, NULL, NULL, NULL},
    {"critical_path", dependence_graph_critical_path, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot dependence_graph_slots[] = {
    {Py_tp_doc, "The dependence graph of a straight-line region."},
    {Py_tp_new, dependence_graph_new},
    {Py_tp_dealloc, dependence_graph_dealloc},
    {Py_tp_getset, dependence_graph_properties},
    {0, NULL}};

static PyType_Spec dependence_graph_spec = {
    "ptx_lsp.analyses._flow.DependenceGraph", sizeof(DependenceGraph), 0, Py_TPFLAGS_DEFAULT, dependence_graph_slots};

#endif
