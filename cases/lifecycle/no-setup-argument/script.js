export default function (data) { console.log(typeof data, data === undefined, data === null, arguments.length); }
