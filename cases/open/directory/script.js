open('./files');
export default function () {}
