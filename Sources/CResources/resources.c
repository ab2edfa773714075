#include "resources.h"

// clang has C23's `#embed` in every version of the language, and warns of that.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char answer_js[] = {
#embed "../Report/HTML/Page/answer.js"
};

static const unsigned char boxes_js[] = {
#embed "../Report/HTML/Page/boxes.js"
};

static const unsigned char changes_js[] = {
#embed "../Report/HTML/Page/changes.js"
};

static const unsigned char compared_js[] = {
#embed "../Report/HTML/Page/compared.js"
};

static const unsigned char comparison_css[] = {
#embed "../Report/HTML/Page/comparison.css"
};

static const unsigned char comparison_js[] = {
#embed "../Report/HTML/Page/comparison.js"
};

static const unsigned char differential_js[] = {
#embed "../Report/HTML/Page/differential.js"
};

static const unsigned char dom_js[] = {
#embed "../Report/HTML/Page/dom.js"
};

static const unsigned char facts_js[] = {
#embed "../Report/HTML/Page/facts.js"
};

static const unsigned char flame_js[] = {
#embed "../Report/HTML/Page/flame.js"
};

static const unsigned char forest_js[] = {
#embed "../Report/HTML/Page/forest.js"
};

static const unsigned char format_js[] = {
#embed "../Report/HTML/Page/format.js"
};

static const unsigned char heaviest_js[] = {
#embed "../Report/HTML/Page/heaviest.js"
};

static const unsigned char lanes_js[] = {
#embed "../Report/HTML/Page/lanes.js"
};

static const unsigned char launch_js[] = {
#embed "../Report/HTML/Page/launch.js"
};

static const unsigned char legend_js[] = {
#embed "../Report/HTML/Page/legend.js"
};

static const unsigned char main_js[] = {
#embed "../Report/HTML/Page/main.js"
};

static const unsigned char measurement_css[] = {
#embed "../Report/HTML/Page/measurement.css"
};

static const unsigned char measurement_html[] = {
#embed "../Report/HTML/Page/measurement.html"
};

static const unsigned char measurement_js[] = {
#embed "../Report/HTML/Page/measurement.js"
};

static const unsigned char page_css[] = {
#embed "../Report/HTML/Page/page.css"
};

static const unsigned char page_html[] = {
#embed "../Report/HTML/Page/page.html"
};

static const unsigned char sides_js[] = {
#embed "../Report/HTML/Page/sides.js"
};

static const unsigned char source_js[] = {
#embed "../Report/HTML/Page/source.js"
};

static const unsigned char start_js[] = {
#embed "../Report/HTML/Page/start.js"
};

static const unsigned char state_js[] = {
#embed "../Report/HTML/Page/state.js"
};

static const unsigned char table_js[] = {
#embed "../Report/HTML/Page/table.js"
};

static const unsigned char timeline_js[] = {
#embed "../Report/HTML/Page/timeline.js"
};

static const unsigned char totals_js[] = {
#embed "../Report/HTML/Page/totals.js"
};

static const unsigned char tree_js[] = {
#embed "../Report/HTML/Page/tree.js"
};

static const unsigned char values_js[] = {
#embed "../Report/HTML/Page/values.js"
};

static const unsigned char schema_sql[] = {
#embed "../ClickHouse/SQL/schema.sql"
};

#define FILE(name) [fl_##name] = {name, sizeof name}

static const struct {
    const unsigned char *bytes;
    size_t size;
} files[] = {
    FILE(answer_js),
    FILE(boxes_js),
    FILE(changes_js),
    FILE(compared_js),
    FILE(comparison_css),
    FILE(comparison_js),
    FILE(differential_js),
    FILE(dom_js),
    FILE(facts_js),
    FILE(flame_js),
    FILE(forest_js),
    FILE(format_js),
    FILE(heaviest_js),
    FILE(lanes_js),
    FILE(launch_js),
    FILE(legend_js),
    FILE(main_js),
    FILE(measurement_css),
    FILE(measurement_html),
    FILE(measurement_js),
    FILE(page_css),
    FILE(page_html),
    FILE(sides_js),
    FILE(source_js),
    FILE(start_js),
    FILE(state_js),
    FILE(table_js),
    FILE(timeline_js),
    FILE(totals_js),
    FILE(tree_js),
    FILE(values_js),
    FILE(schema_sql),
};

const unsigned char *fl_resource_bytes(fl_resource_t resource) { return files[resource].bytes; }

size_t fl_resource_size(fl_resource_t resource) { return files[resource].size; }
