exports.options = { vus: 3, duration: '1m' };
module.exports.default = function () {};
