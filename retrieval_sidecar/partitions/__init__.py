"""Large organizations: when approximate search pays, and the partitions and indexes that it needs."""
