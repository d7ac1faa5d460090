/* Shapes of the network between nodes, in the order they are listed. */
FR_SHAPE(levels)
FR_SHAPE(flat)
FR_SHAPE(fat_tree)
FR_SHAPE(dragonfly)
FR_SHAPE(torus)
FR_SHAPE(rail)
