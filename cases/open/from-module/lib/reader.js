export function read(path) { try { return open(path).trim(); } catch (e) { return e.name; } }
