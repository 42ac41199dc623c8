exports.present = 1;
exports.other = 2;
