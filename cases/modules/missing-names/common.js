exports.present = 1;
