setTimeout(() => console.log('timer'), 20);
module.exports.default = function () { console.log('never'); };
throw new Error('thrown');
