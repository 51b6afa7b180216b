/*
 * graph_unit.c: the reader of networks: GraphML with the oddities of real files, edges a line,
 * every wrong file, files cut at every byte; and shortest paths against all paths there are.
 */
#include "check.h"

#include "readers/graph.h"

#define HEAD                                                                                       \
    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"                                  \
    "<key attr.name=\"label\" for=\"node\" id=\"d0\"/>\n"                                          \
    "<key attr.name=\"Longitude\" for=\"node\" id=\"d1\"/>\n"                                      \
    "<key attr.name=\"Latitude\" for=\"node\" id=\"d2\"/>\n"                                       \
    "<key attr.name=\"label\" for=\"graph\" id=\"d3\"/>\n"
#define TAIL "</graph></graphml>\n"

static void read_text(struct graph *g, const char *text)
{
    struct graph_trouble why = {0, ""};
    memset(g, 0, sizeof *g);
    if (!graph_parse(g, GRAPH_GUESS, NULL, text, strlen(text), &why)) {
        print_error("line %d: %s\n", (int)why.line, why.why);
        fail();
    }
}

/* Refused on that line, with those words; and the graph stays empty. */
static void refuse_as(enum graph_form form, const char *network, const char *text, size_t len,
                      uint64_t line, const char *words)
{
    struct graph g = {.nodes = 0};
    struct graph_trouble why = {0, ""};
    char *exact = malloc(len == 0 ? 1 : len); /* exactly as long, for the sanitizer */
    memcpy(exact, text, len);
    assert_false(graph_parse(&g, form, network, exact, len, &why));
    free(exact);
    assert_true(why.why[0] != '\0' && strlen(why.why) < sizeof why.why);
    if (words != NULL && (strstr(why.why, words) == NULL || why.line != line)) {
        print_error("line %d: '%s' is not line %d: '%s'\n", (int)why.line, why.why, (int)line,
                    words);
        fail();
    }
    assert_int_equal(g.nodes, 0);
    assert_null(g.link);
    assert_null(g.ids.text);
}

static void refuse(const char *text, uint64_t line, const char *words)
{
    refuse_as(GRAPH_GUESS, NULL, text, strlen(text), line, words);
}

static uint32_t node(const struct graph *g, const char *name)
{
    uint32_t several;
    uint32_t v = graph_find(g, name, &several);
    assert_true(v < g->nodes);
    return v;
}

static uint32_t degree(const struct graph *g, const char *name)
{
    uint32_t v = node(g, name);
    return g->first[v + 1] - g->first[v];
}

/* ---- GraphML -------------------------------------------------------------------------------- */

static void graphml_is_read_with_its_oddities(void **state)
{
    struct graph g;
    char room[GRAPH_NAME_ROOM];
    uint32_t several;
    (void)state;
    /* Edges before nodes, parallel edges, a loop, shared and missing labels, a part of its own,
     * foreign elements, white space and entities in labels. */
    read_text(&g,
              HEAD "<graph edgedefault=\"undirected\">\n"
                   "<data key=\"d3\">not a node's</data>\n"
                   "<edge source=\"0\" target=\"1\"/><edge source=\"1\" target=\"0\"/>\n"
                   "<edge id=\"e\" source=\"1\" target=\"2\"><data key=\"d0\">no</data></edge>\n"
                   "<node id=\"0\"><data key=\"d0\"> New \n York</data>\n"
                   "<data key=\"d1\">-74.0</data><data key=\"d2\">40.7</data></node>\n"
                   "<node id=\"1\"><data key=\"d0\">A &amp; B</data><port name=\"p\"/></node>\n"
                   "<node id=\"2\"><data key=\"d0\">Twin</data>"
                   "<data key=\"d1\">east</data></node>\n"
                   "<node id=\"3\"><data key=\"d0\">Twin</data></node>\n"
                   "<node id=\"4\"><data key=\"d0\">  </data></node>\n"
                   "<node id=\"5\"/>\n"
                   "<edge source=\"3\" target=\"3\"/><edge source=\"4\" target=\"5\"/>\n" TAIL);
    assert_int_equal(g.nodes, 6);
    assert_int_equal(g.edges, 4);
    assert_int_equal(g.links, 8);
    assert_int_equal(g.loops, 1);
    assert_string_equal(graph_name(&g, 0, room), "New York");
    assert_string_equal(graph_name(&g, 1, room), "A & B");
    assert_string_equal(graph_name(&g, 2, room), "Twin#2");
    assert_string_equal(graph_name(&g, 3, room), "Twin#3");
    assert_string_equal(graph_name(&g, 4, room), "4");
    assert_true(g.node[0].x == -74.0 && g.node[0].y == 40.7);
    assert_true(isnan(g.node[2].x) && isnan(g.node[5].y));
    assert_int_equal(degree(&g, "New York"), 2);
    assert_int_equal(degree(&g, "A & B"), 3);
    assert_int_equal(degree(&g, "Twin#3"), 0);
    /* Parallel links are told apart, in both directions. */
    assert_int_equal(g.link[0].parallel, 0);
    assert_int_equal(g.link[1].parallel, 1);
    assert_int_equal(g.link[1].edge, 1);
    assert_int_equal(graph_find(&g, "Twin", &several), GRAPH_NONE);
    assert_int_equal(several, 2);
    assert_int_equal(graph_find(&g, "nobody", &several), GRAPH_NONE);
    assert_int_equal(several, 0);
    assert_int_equal(node(&g, "#3"), 3);
    assert_int_equal(node(&g, "1"), 1);
    for (uint32_t v = 0; v < g.nodes; v++) {
        assert_int_equal(node(&g, graph_name(&g, v, room)), v);
    }
    graph_free(&g);
}

static void names_find_their_nodes_whatever_they_are(void **state)
{
    struct graph g;
    char room[GRAPH_NAME_ROOM];
    (void)state;
    /* Labels that look like ids of others, and like what we call others by. */
    read_text(&g, HEAD "<graph><node id=\"a\"><data key=\"d0\">b</data></node>"
                       "<node id=\"b\"><data key=\"d0\">b</data></node>"
                       "<node id=\"c\"><data key=\"d0\">b#a</data></node>"
                       "<node id=\"x#y\"><data key=\"d0\">#</data></node>"
                       "<node id=\"d\"><data key=\"d0\">a</data></node>" TAIL);
    for (uint32_t v = 0; v < g.nodes; v++) {
        assert_int_equal(node(&g, graph_name(&g, v, room)), v);
    }
    assert_int_equal(node(&g, "a"), 4); /* a label goes before an id */
    assert_int_equal(node(&g, "#a"), 0);
    graph_free(&g);
}

static void directed_edges_are_one_link(void **state)
{
    struct graph g;
    (void)state;
    read_text(&g, "<g:graphml xmlns:g=\"http://graphml.graphdrawing.org/xmlns\">"
                  "<g:graph edgedefault=\"directed\"><g:node id=\"a\"/><g:node id=\"b\"/>"
                  "<g:edge source=\"a\" target=\"b\"/>"
                  "<g:edge source=\"a\" target=\"b\" directed=\"false\"/>"
                  "</g:graph></g:graphml>");
    assert_int_equal(g.edges, 2);
    assert_int_equal(g.links, 3);
    assert_int_equal(degree(&g, "a"), 2);
    assert_int_equal(degree(&g, "b"), 1);
    graph_free(&g);
}

static void wrong_graphml_is_refused(void **state)
{
    (void)state;
    refuse("<", 1, "not XML");
    refuse("<html><body/></html>", 1, "<html>, not <graphml>");
    refuse("<graphml/>", 0, "no <graph>");
    refuse("<graphml>\n<graph/></graphml>", 0, "no nodes");
    refuse("<graphml>\n<graph>\n<node/></graph></graphml>", 3, "without an id");
    refuse("<graphml>\n<graph>\n<node id=\"\"/></graph></graphml>", 3, "no characters");
    refuse("<graphml>\n<graph>\n<node id=\"a&#9;b\"/></graph></graphml>", 3, "control character");
    refuse("<graphml>\n<graph><node id=\"a\"/>\n\n<node id=\"a\"/></graph></graphml>", 4,
           "second node with the id 'a'");
    refuse("<graphml><graph><node id=\"a\"/>\n<edge source=\"a\"/></graph></graphml>", 2,
           "without a source and a target");
    refuse("<graphml><graph><node id=\"a\"/>\n<edge source=\"a\" target=\"zz\"/></graph></graphml>",
           2, "node 'zz', which does not exist");
    refuse("<graphml>\n<graph edgedefault=\"maybe\"/></graphml>", 2, "neither directed");
    refuse("<graphml>\n<graph/>\n<graph/></graphml>", 3, "second <graph>");
    refuse("<graphml><graph>\n<node id=\"a\"><graph/></node></graph></graphml>", 2, "within");
    refuse("<graphml><graph>\n<hyperedge/></graph></graphml>", 2, "<hyperedge>");
    refuse("<graphml><key/></graphml>", 1, "<key> without an id");
    refuse("<graphml><graph><node id=\"a\"></graph></graphml>", 1, "mismatched tag");
    refuse("<graphml><graph><node id=\"a\"/>&what;</graph></graphml>", 1, "undefined entity");
    /* A name that says GraphML, and text that is not. */
    refuse_as(GRAPH_XML, NULL, "a\tb\n", 4, 1, "not XML");
    refuse_as(GRAPH_XML, NULL, "", 0, 1, "not XML");
    refuse_as(GRAPH_XML, "7018", "<graphml/>", 10, 0, "one network per file");
}

static void entities_are_refused_before_they_grow(void **state)
{
    (void)state;
    refuse("<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [\n"
           "<!ENTITY a \"lol\">\n<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">\n"
           "<!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\">\n"
           "]>\n<graphml><graph><node id=\"&c;\"/></graph></graphml>",
           2, "<!DOCTYPE");
    refuse("<!DOCTYPE g SYSTEM \"file:///etc/passwd\"><graphml/>", 1, "<!DOCTYPE");
}

static void hostile_sizes_are_refused(void **state)
{
    size_t room = 1 << 20;
    char *text = malloc(room);
    size_t used = 0;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        used += (size_t)sprintf(text + used, "<graphml>");
    }
    refuse_as(GRAPH_XML, NULL, text, used, 1, "64 deep");
    used = (size_t)sprintf(text, HEAD "<graph><node id=\"a\"><data key=\"d0\">");
    memset(text + used, 'x', GRAPH_TEXT + 1);
    refuse_as(GRAPH_XML, NULL, text, used + GRAPH_TEXT + 1, 6, "4096 bytes");
    used = (size_t)sprintf(text, "<graphml><graph><node id=\"");
    memset(text + used, 'x', GRAPH_TEXT + 1);
    sprintf(text + used + GRAPH_TEXT + 1, "\"/></graph></graphml>");
    refuse(text, 1, "more than 4096");
    memset(text, '\t', 5000);
    refuse_as(GRAPH_TSV, NULL, text, 5000, 1, "no characters");
    free(text);
}

static void graphml_cut_anywhere_is_refused(void **state)
{
    static const char text[] =
        HEAD "<graph edgedefault=\"undirected\"><node id=\"0\"><data key=\"d0\">A</data></node>"
             "<node id=\"1\"/><edge source=\"0\" target=\"1\"/></graph></graphml>";
    (void)state;
    for (size_t len = 0; len + 1 < sizeof text; len++) {
        refuse_as(GRAPH_XML, NULL, text, len, 0, NULL);
    }
}

/* ---- tab-separated -------------------------------------------------------------------------- */

static void edges_a_line_are_read(void **state)
{
    struct graph g;
    (void)state;
    read_text(&g, "# a comment\nb\ta\n\n# another\na\tc\textra\r\nc\td");
    assert_int_equal(g.nodes, 4);
    assert_int_equal(g.links, 6);
    assert_int_equal(degree(&g, "a"), 2);
    assert_int_equal(g.node[node(&g, "b")].rank, 1);
    graph_free(&g);
    read_text(&g, "# weight\ttarget\tsource\n5\tx\ty\n5\ty\tz\n");
    assert_int_equal(degree(&g, "y"), 2);
    graph_free(&g);
}

static void both_directions_are_one_edge(void **state)
{
    struct graph g;
    (void)state;
    /* ab once; cd both ways; ef twice one way, once the other: two parallel edges; a loop */
    read_text(&g, "a\tb\nc\td\nd\tc\ne\tf\nf\te\nf\te\na\ta\n");
    assert_int_equal(g.edges, 4);
    assert_int_equal(g.links, 8);
    assert_int_equal(g.loops, 1);
    assert_int_equal(degree(&g, "e"), 2);
    assert_int_equal(degree(&g, "f"), 2);
    graph_free(&g);
}

static void one_of_several_networks_is_taken(void **state)
{
    static const char text[] = "#asn\tu\tv\tweight\n1\ta\tb\t5\n2\ta\tc\t5\n1\tb\td\t5\n";
    struct graph g = {.nodes = 0};
    struct graph_trouble why;
    (void)state;
    assert_true(graph_parse(&g, GRAPH_GUESS, "1", text, strlen(text), &why));
    assert_int_equal(g.nodes, 3);
    assert_int_equal(g.links, 4);
    graph_free(&g);
    refuse(text, 0, "2 networks, '1' and others");
    refuse_as(GRAPH_GUESS, "3", text, strlen(text), 0, "no network '3'");
    refuse_as(GRAPH_GUESS, "3", "a\tb\n", 4, 0, "no column names networks");
}

static void wrong_lines_are_refused(void **state)
{
    (void)state;
    refuse("", 0, "no nodes");
    refuse("# nothing\n", 0, "no nodes");
    refuse("a\tb\na b\n", 2, "column 2 is missing");
    refuse("\ta\n", 1, "no characters");
    refuse("#u\tx\tv\na\tb\n", 2, "column 3 is missing");
    refuse("#asn\tu\tv\n\ta\tb\n", 2, "the network has no name");
    refuse_as(GRAPH_TSV, NULL, "a\tb\0c\n", 6, 1, "control character");
}

/* ---- paths ---------------------------------------------------------------------------------- */

/* A random graph, as text: named in an order of their own, so that ranks are not numbers. */
static void random_graph(struct graph *g, uint64_t *state, uint32_t nodes, uint32_t edges)
{
    char text[8192];
    size_t used = (size_t)sprintf(text, "<graphml><graph edgedefault=\"%s\">",
                                  check_random(state) % 2 == 0 ? "directed" : "undirected");
    for (uint32_t i = 0; i < nodes; i++) {
        int letter = (int)('a' + (i * 11 + 3) % nodes);
        used += (size_t)sprintf(text + used, "<node id=\"%c\"/>", letter);
    }
    for (uint32_t i = 0; i < edges; i++) {
        used += (size_t)sprintf(text + used, "<edge source=\"%c\" target=\"%c\"/>",
                                (int)('a' + check_random(state) % nodes),
                                (int)('a' + check_random(state) % nodes));
    }
    sprintf(text + used, "</graph></graphml>");
    read_text(g, text);
}

/* Distances by relaxing every link again and again. */
static void naive_distances(const struct graph *g, uint32_t root, uint32_t *distance)
{
    memset(distance, 0xff, g->nodes * sizeof *distance);
    distance[root] = 0;
    for (uint32_t round = 0; round < g->nodes; round++) {
        for (uint32_t l = 0; l < g->links; l++) {
            uint32_t d = distance[g->link[l].from];
            if (d != GRAPH_NONE && d + 1 < distance[g->link[l].to]) {
                distance[g->link[l].to] = d + 1;
            }
        }
    }
}

/* All paths of `length` links from v, one by one; the smallest sequence to `to` is kept. */
struct naive {
    const struct graph *g;
    uint32_t to;
    uint32_t length;
    uint32_t path[16];
    uint32_t best[16];
    bool found;
};

static void naive_walk(struct naive *n, uint32_t v, uint32_t at)
{
    n->path[at] = n->g->node[v].rank;
    if (at == n->length) {
        bool smaller = !n->found;
        for (uint32_t i = 0; i <= at && n->found && !smaller; i++) {
            if (n->path[i] != n->best[i]) {
                smaller = n->path[i] < n->best[i];
                break;
            }
        }
        if (v == n->to && smaller) {
            memcpy(n->best, n->path, sizeof n->best);
            n->found = true;
        }
        return;
    }
    for (uint32_t l = n->g->first[v]; l < n->g->first[v + 1]; l++) {
        naive_walk(n, n->g->link[l].to, at + 1);
    }
}

static void check_path(const struct graph *g, const struct graph_spread *s, uint32_t root,
                       uint32_t to, struct naive *n)
{
    uint32_t link[16];
    n->g = g;
    n->to = to;
    n->length = s->distance[to];
    n->found = false;
    naive_walk(n, root, 0);
    assert_true(n->found);
    assert_int_equal(graph_path(g, s, to, link), n->length);
    for (uint32_t i = 0, v = root; i < n->length; i++) {
        assert_int_equal(g->link[link[i]].from, v);
        v = g->link[link[i]].to;
        assert_int_equal(g->node[v].rank, n->best[i + 1]);
        assert_int_equal(g->link[link[i]].parallel, 0);
    }
}

/* Of all pairs the farthest, and of these the smallest sequence. */
static void check_longest(const struct graph *g, struct graph_spread *s)
{
    uint32_t from = GRAPH_NONE;
    uint32_t to = GRAPH_NONE;
    uint32_t best = 0;
    struct naive kept = {.found = false};
    uint32_t length = graph_longest(g, s, &from, &to);
    for (uint32_t v = 0; v < g->nodes; v++) {
        graph_spread(g, v, s);
        for (uint32_t w = 0; w < g->nodes; w++) {
            if (s->distance[w] == GRAPH_NONE || s->distance[w] < best || s->distance[w] == 0) {
                continue;
            }
            struct naive n;
            check_path(g, s, v, w, &n);
            bool smaller = s->distance[w] > best;
            for (uint32_t i = 0; i <= n.length && !smaller; i++) {
                if (n.best[i] != kept.best[i]) {
                    smaller = n.best[i] < kept.best[i];
                    break;
                }
            }
            best = s->distance[w];
            kept = smaller ? n : kept;
        }
    }
    assert_int_equal(length, best);
    if (best > 0) {
        assert_int_equal(g->node[from].rank, kept.best[0]);
        assert_int_equal(g->node[to].rank, kept.best[best]);
    }
}

/* The tree reaches each node once, in order, and has no link that leads to nobody asked for. */
static void check_tree(const struct graph *g, const struct graph_spread *s, uint32_t root,
                       const uint32_t *to, size_t count)
{
    uint32_t link[16];
    bool there[16] = {false};
    bool needed[16] = {false};
    uint32_t links = graph_tree(g, s, to, count, link);
    there[root] = true;
    for (uint32_t i = 0; i < links; i++) {
        assert_true(there[g->link[link[i]].from]);
        assert_false(there[g->link[link[i]].to]);
        there[g->link[link[i]].to] = true;
    }
    for (size_t i = 0; i < count; i++) {
        assert_true(there[to[i]]);
        for (uint32_t v = to[i]; s->via[v] != GRAPH_NONE; v = g->link[s->via[v]].from) {
            needed[v] = true;
        }
    }
    for (uint32_t i = 0; i < links; i++) {
        assert_true(needed[g->link[link[i]].to]);
    }
}

static void shortest_paths_are_the_smallest_of_all(void **state)
{
    uint64_t seed = 11;
    (void)state;
    for (int round = 0; round < 400; round++) {
        struct graph g;
        struct graph_spread s;
        uint32_t naive[16];
        random_graph(&g, &seed, 2 + (uint32_t)(check_random(&seed) % 7),
                     (uint32_t)(check_random(&seed) % 14));
        assert_true(graph_spread_new(&s, &g));
        for (uint32_t root = 0; root < g.nodes; root++) {
            uint32_t asked[3];
            uint32_t count = graph_spread(&g, root, &s);
            naive_distances(&g, root, naive);
            for (uint32_t v = 0; v < g.nodes; v++) {
                assert_int_equal(s.distance[v], naive[v]);
                if (naive[v] != GRAPH_NONE) {
                    struct naive n;
                    check_path(&g, &s, root, v, &n);
                }
            }
            for (uint32_t i = 1; i < count; i++) {
                assert_true(s.distance[s.reached[i - 1]] <= s.distance[s.reached[i]]);
            }
            for (size_t i = 0; i < 3; i++) {
                asked[i] = s.reached[check_random(&seed) % count];
            }
            check_tree(&g, &s, root, asked, 3);
        }
        check_longest(&g, &s);
        graph_spread_free(&s);
        graph_free(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphml_is_read_with_its_oddities),
        cmocka_unit_test(names_find_their_nodes_whatever_they_are),
        cmocka_unit_test(directed_edges_are_one_link),
        cmocka_unit_test(wrong_graphml_is_refused),
        cmocka_unit_test(entities_are_refused_before_they_grow),
        cmocka_unit_test(hostile_sizes_are_refused),
        cmocka_unit_test(graphml_cut_anywhere_is_refused),
        cmocka_unit_test(edges_a_line_are_read),
        cmocka_unit_test(both_directions_are_one_edge),
        cmocka_unit_test(one_of_several_networks_is_taken),
        cmocka_unit_test(wrong_lines_are_refused),
        cmocka_unit_test(shortest_paths_are_the_smallest_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
