const run = function () { console.log('bound'); };
export { run as default };
