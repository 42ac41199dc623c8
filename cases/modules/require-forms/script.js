const k6 = require('k6'), lib = require('./lib.js'), data = require('./data.json');
module.exports = { default: function () { console.log(typeof k6.check, lib.a, lib.b(), data.n, typeof require('k6/http').get, require('./lib.js') === lib); }, options: { iterations: 1 } };
