#ifndef FIRSTLIGHT_RESOURCES_H
#define FIRSTLIGHT_RESOURCES_H

#include <stddef.h>

/// The files that are part of the program: scripts, styles and skeletons of the pages
/// (`Report/HTML/Page`), and the store's tables (`ClickHouse/SQL`). The C compiler embeds a file as it
/// is. SwiftPM would make an array literal of it, and half a minute of the build with it.
typedef enum fl_resource {
    fl_answer_js,
    fl_boxes_js,
    fl_changes_js,
    fl_compared_js,
    fl_comparison_css,
    fl_comparison_js,
    fl_differential_js,
    fl_dom_js,
    fl_facts_js,
    fl_flame_js,
    fl_forest_js,
    fl_format_js,
    fl_heaviest_js,
    fl_lanes_js,
    fl_launch_js,
    fl_legend_js,
    fl_main_js,
    fl_measurement_css,
    fl_measurement_html,
    fl_measurement_js,
    fl_page_css,
    fl_page_html,
    fl_sides_js,
    fl_source_js,
    fl_start_js,
    fl_state_js,
    fl_table_js,
    fl_timeline_js,
    fl_totals_js,
    fl_tree_js,
    fl_values_js,
    fl_schema_sql,
} fl_resource_t;

/// A resource's first byte. It lives as long as the program.
const unsigned char *fl_resource_bytes(fl_resource_t resource);

/// A resource's size in bytes.
size_t fl_resource_size(fl_resource_t resource);

#endif
