const crypto = require("crypto");
const server = require("http").createServer((request, response) => {
    let digest = request.url;
    for (let n = 0; n < 200; n++) digest = crypto.createHash("sha256").update(digest).digest("hex");
    // And once on a thread of the pool.
    crypto.pbkdf2(digest, "salt", 200, 32, "sha256", (error, key) => {
        response.setHeader("Connection", "close");
        response.end(key.toString("hex"));
    });
});
setInterval(() => { let s = 0; for (let n = 0; n < 20000; n++) s += n * n; }, 2);
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
