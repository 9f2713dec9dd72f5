"""The lab: text and models whose bias is known, to try the measures themselves on."""
