# The dashboard over a folder of audits: docker build -t tiltmeter . && docker run -p 8765:8765 -v $PWD/audits:/audits \
#   -e TILTMETER_TOKEN=a-secret-of-16-or-more tiltmeter
FROM python:3.12-slim AS build
COPY . /src
RUN python -m venv /opt/tiltmeter
RUN /opt/tiltmeter/bin/python -m pip install --no-cache-dir '/src[web]'

FROM python:3.12-slim
COPY --from=build /opt/tiltmeter /opt/tiltmeter
RUN useradd --create-home tiltmeter
USER tiltmeter
ENV PATH=/opt/tiltmeter/bin:$PATH TILTMETER_CACHE=/home/tiltmeter/cache
VOLUME /audits
EXPOSE 8765
# Readable from outside the container, so it asks for TILTMETER_TOKEN and does not start without one.
CMD ["tiltmeter", "serve", "/audits", "--host", "0.0.0.0"]
