module.exports = { default() { console.log('replaced'); }, options: { iterations: 2, vus: 1 } };
