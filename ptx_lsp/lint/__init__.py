"""Rules turn facts about a module into findings. Rules report and never compute."""
