#!/bin/sh
# nginx with TLS and HTTP/2, with a certificate of its own and a page with twenty pictures
set -e
cd /tmp
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 \
    -subj /CN=web -addext subjectAltName=DNS:web 2>/dev/null
mkdir -p page logs
for number in $(seq 20); do head -c 50000 /dev/urandom > "page/$number.png"; done
cat > nginx.conf <<'END'
daemon off;
pid /tmp/nginx.pid;
error_log stderr;
events { }
http {
    access_log off;
    client_body_temp_path /tmp/logs;
    proxy_temp_path /tmp/logs;
    fastcgi_temp_path /tmp/logs;
    uwsgi_temp_path /tmp/logs;
    scgi_temp_path /tmp/logs;
    server {
        listen 443 ssl http2;
        ssl_certificate /tmp/cert.pem;
        ssl_certificate_key /tmp/key.pem;
        root /tmp/page;
    }
}
END
cp cert.pem /shared/
exec nginx -p /tmp -c /tmp/nginx.conf
