var http = require('k6/http');
var k6 = require('k6');
var metrics = require('k6/metrics');
var failures = new metrics.Rate('failures');
module.exports.options = { vus: 1, iterations: 2 };
module.exports.default = function () {
  var res = http.get(__ENV.BASE + '/get');
  failures.add(!k6.check(res, { 'is 200': function (r) { return r.status === 200; } }));
  k6.group('g', function () { k6.sleep(0.001); });
};
