exports.a = 1;
exports.b = function () { return exports.a + 1; };
