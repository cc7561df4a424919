/* List scheduling that hoists instructions while registers are left: `analyses/registers/list_scheduling.py` (3). */

#ifndef PTX_HOISTING_H
#define PTX_HOISTING_H

#include "scheduling.h"

typedef struct {
  const DependenceGraph *graph;
  Py_ssize_t *order, *live, *sizes; /* the order, and its profile */
  Py_ssize_t *turn, *waits_for, *earliest;
  Py_ssize_t *hoisted; /* by turn, the size of what was hoisted from there */
  Py_ssize_t raised;   /* the sum of these sizes behind the current turn */
  unsigned char *is_taken;
  Heap waiting, ready; /* by the cycle at which they may start, then by critical path; by critical path, then text */
  Entry *refused;
  Py_ssize_t limit, window, tries, most;
} Hoisting;

/* Whether an instruction may be scheduled at the turn `at`. */
static int is_free(const Hoisting *state, Py_ssize_t number, Py_ssize_t at) {
  Py_ssize_t turn = state->turn[number], size = state->sizes[turn], raised = state->raised;
  if (turn == at || size <= 0) return 1;
  if (turn - at > state->window) return 0;
  for (Py_ssize_t one = at; one < turn; one++) {
    if (one > at) raised -= state->hoisted[one];
    if (state->live[one] + raised + size > state->limit) return 0;
  }
  return 1;
}

enum { WAITS = -1, FAILED = -2 };

/* The instruction to schedule next; WAITS if waiting is better. Ties in the critical path go to the first in the
 * text. */
static Py_ssize_t choose(Hoisting *state, Py_ssize_t at, Py_ssize_t now) {
  while (state->waiting.size && state->waiting.entries[0].first <= now) {
    Entry one = pop(&state->waiting);
    if (!push(&state->ready, -state->graph->critical_path[one.item], one.item, one.item)) return FAILED;
  }
  Py_ssize_t refused = 0, chosen = WAITS;
  while (state->ready.size && refused < state->tries) {
    Entry one = pop(&state->ready);
    if (state->is_taken[one.item]) continue;
    if (is_free(state, one.item, at)) {
      chosen = one.item;
      break;
    }
    state->refused[refused++] = one;
  }
  for (Py_ssize_t n = 0; n < refused; n++)
    if (!push(&state->ready, state->refused[n].first, state->refused[n].second, state->refused[n].item)) return FAILED;
  if (chosen != WAITS) return chosen;
  Py_ssize_t following = state->order[at];
  int is_waited_for = !refused && state->waiting.size && state->earliest[following] > now;
  return is_waited_for || state->waits_for[following] ? WAITS : following;
}

static int wait_for(Hoisting *state, Py_ssize_t number) {
  return push(&state->waiting, state->earliest[number], -state->graph->critical_path[number], number);
}

static int take(Hoisting *state, Py_ssize_t number, Py_ssize_t at, Py_ssize_t now) {
  const DependenceGraph *graph = state->graph;
  Py_ssize_t turn = state->turn[number];
  state->is_taken[number] = 1;
  if (turn > at) {
    state->hoisted[turn] = state->sizes[turn];
    state->raised += state->sizes[turn];
  }
  for (Py_ssize_t edge = graph->starts[number]; edge < graph->starts[number + 1]; edge++) {
    Py_ssize_t other = graph->successors[edge], start = now + graph->latencies[edge];
    if (state->earliest[other] < start) state->earliest[other] = start;
    if (!--state->waits_for[other] && !wait_for(state, other)) return 0;
  }
  return 1;
}

/* The profile is final before the turn `end`. */
static void pass(Hoisting *state, Py_ssize_t turn) {
  Py_ssize_t live = state->live[turn] + state->raised;
  if (live > state->most) state->most = live;
  if (turn + 1 < state->graph->count) state->raised -= state->hoisted[turn + 1];
}

/* Schedules all instructions; false with an exception. */
static int run(Hoisting *state) {
  Py_ssize_t count = state->graph->count, now = 0, at = 0;
  for (Py_ssize_t n = 0; n < count; n++) {
    for (; state->is_taken[state->order[at]]; at++) pass(state, at);
    Py_ssize_t chosen = choose(state, at, now);
    while (chosen == WAITS) {
      if (!state->waiting.size) {
        PyErr_SetString(PyExc_ValueError, "the order does not keep the dependences");
        return 0;
      }
      now = state->waiting.entries[0].first;
      chosen = choose(state, at, now);
    }
    if (chosen == FAILED) return 0;
    if (now < state->earliest[chosen]) now = state->earliest[chosen];
    if (!take(state, chosen, at, now)) return 0;
    now++;
  }
  for (; at < count; at++) pass(state, at);
  return 1;
}

static int begin_hoisting(Hoisting *state) {
  Py_ssize_t count = state->graph->count;
  state->most = PY_SSIZE_T_MIN;
  state->turn = zeroed(count, sizeof *state->turn);
  state->waits_for = zeroed(count, sizeof *state->waits_for);
  state->earliest = zeroed(count, sizeof *state->earliest);
  state->hoisted = zeroed(count, sizeof *state->hoisted);
  state->is_taken = zeroed(count, 1);
  state->refused = zeroed(state->tries, sizeof *state->refused);
  if (PyErr_Occurred()) return 0;
  for (Py_ssize_t turn = 0; turn < count; turn++) state->turn[state->order[turn]] = turn;
  for (Py_ssize_t n = 0; n < count; n++) {
    state->waits_for[n] = state->graph->predecessor_counts[n];
    if (!state->waits_for[n] && !wait_for(state, n)) return 0;
  }
  return 1;
}

static PyObject *hoisted(PyObject *self, PyObject *arguments) {
  Hoisting state = {.graph = (DependenceGraph *)self};
  PyObject *order, *live, *sizes, *found = NULL;
  if (!PyArg_ParseTuple(arguments, "O!O!O!nnn", &PyList_Type, &order, &PyList_Type, &live, &PyList_Type, &sizes,
                        &state.limit, &state.window, &state.tries))
    return NULL;
  if (!state.graph->count || state.tries < 0 || state.tries > 1024) {
    PyErr_SetString(PyExc_ValueError, "the region is empty, or there are too many tries");
    return NULL;
  }
  if ((state.order = read_order(order, state.graph->count)) != NULL &&
      (state.live = read_numbers(live, state.graph->count)) != NULL &&
      (state.sizes = read_numbers(sizes, state.graph->count)) != NULL && begin_hoisting(&state) && run(&state))
    found = PyLong_FromSsize_t(state.most);
  Py_ssize_t *memory[] = {state.order, state.live, state.sizes, state.turn, state.waits_for, state.earliest,
                          state.hoisted};
  for (size_t n = 0; n < sizeof memory / sizeof *memory; n++) PyMem_Free(memory[n]);
  PyMem_Free(state.is_taken);
  PyMem_Free(state.waiting.entries);
  PyMem_Free(state.ready.entries);
  PyMem_Free(state.refused);
  return found;
}

/* -- classes -------------------------------------------------------------------------------------------- */

static PyMethodDef operands_methods[] = {
    {"unrolled", operands_unrolled, METH_VARARGS, NULL},
    {"profile", operands_profile, METH_VARARGS, NULL},
    {"min_pressure_order", min_pressure_order, METH_O, NULL},
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
    "analyses._flow.Operands", sizeof(Operands), 0, Py_TPFLAGS_DEFAULT, operands_slots};

static PyMethodDef dependence_graph_methods[] = {
    {"hoisted", hoisted, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyGetSetDef dependence_graph_properties[] = {
    {"edges", dependence_graph_edges, NULL, NULL, NULL},
    {"critical_path", dependence_graph_critical_path, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot dependence_graph_slots[] = {
    {Py_tp_doc, "The dependence graph of a straight-line region."},
    {Py_tp_new, dependence_graph_new},
    {Py_tp_dealloc, dependence_graph_dealloc},
    {Py_tp_methods, dependence_graph_methods},
    {Py_tp_getset, dependence_graph_properties},
    {0, NULL}};

static PyType_Spec dependence_graph_spec = {
    "analyses._flow.DependenceGraph", sizeof(DependenceGraph), 0, Py_TPFLAGS_DEFAULT, dependence_graph_slots};

#endif
