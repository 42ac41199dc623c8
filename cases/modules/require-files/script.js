const k6 = require('k6'), lib = require('./lib.js'), { b } = require('./lib.js');
module.exports.default = function () { console.log(typeof k6.check, lib.a, lib.b(), b(), typeof require('k6/http').get, require('./lib.js') === lib, Object.keys(lib).join()); };
module.exports.options = { iterations: 1 };
