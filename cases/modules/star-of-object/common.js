module.exports = { a: 1, b() { return 2; } };
