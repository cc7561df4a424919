"""`--cfg`: control flow graphs in DOT and SVG."""
