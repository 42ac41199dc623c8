exports.part = 'part';
exports.whole = 'whole';
